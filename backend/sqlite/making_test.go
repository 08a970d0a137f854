package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

var (
	making = backend.Making{By: "import", Of: "a.csv", Do: "run it again", Shared: true}
	beside = backend.Making{By: "import", Of: "b.csv", Do: "run that again", Shared: true}
	copies = backend.Making{By: "db migrate", Of: "1", Do: "remove the file"}
)

// asKilled copies the files of a database as they would be left by a program killed now.
func asKilled(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "ads.db")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		text, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// made creates a database in steps, and returns copies of it after each step. The last one is complete.
func made(t *testing.T) (steps []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	s, err := Open(t.Context(), path, Options{Create: true, Making: making, stepped: func() { steps = append(steps, asKilled(t, path)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for group := range 3 {
		if err := write(t.Context(), s, group, 20); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, asKilled(t, path))
	}
	if err := s.Finish(t.Context(), making); err != nil {
		t.Fatal(err)
	}
	return append(steps, asKilled(t, path))
}

// others tries all ways to open a file without making it, and returns the errors.
func others(t *testing.T, path string) map[string]error {
	t.Helper()
	out := filepath.Join(t.TempDir(), "backup")
	as := func(o Options) error { return opening(t, path, o) }
	errs := map[string]error{
		"open":         as(Options{}),
		"create":       as(Options{Create: true}),
		"make another": as(Options{Create: true, Making: copies}),
	}
	_, errs["backup"] = Backup(t.Context(), path, out, Options{}, nil)
	scratch, err := OpenScratch(t.Context(), path, Options{})
	if err == nil {
		err = scratch.Close()
	}
	errs["scratch"] = err
	return errs
}

func opening(t *testing.T, path string, o Options) error {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err == nil {
		err = s.Close()
	}
	return err
}

// complete finishes a database that a killed program has begun.
func complete(t *testing.T, path string, m backend.Making) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Create: true, Making: m})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for group := range 3 {
		if err := write(t.Context(), s, group, 20); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// damageOf returns the damage that a check of a file finds, also if the file is unfinished.
func damageOf(t *testing.T, path string) []*backend.Damage {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Unfinished: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	report, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Damage
}

// TestAPartIsNoDatabase: a database whose making was killed after any step is refused by all other programs, and a check
// reports it as damaged. Running the same command again completes it.
func TestAPartIsNoDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	steps := made(t)
	if len(steps) < 2+1+3 {
		t.Fatalf("%d steps", len(steps))
	}
	whole := steps[len(steps)-1]
	if found := damageOf(t, whole); len(found) > 0 {
		t.Errorf("whole: %v", found)
	}
	for who, err := range others(t, whole) {
		if err != nil {
			t.Errorf("whole, %s: %v", who, err)
		}
	}
	if err := opening(t, steps[0], Options{}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("an empty file: %v", err)
	}
	for n, path := range steps[1 : len(steps)-1] {
		for who, err := range others(t, path) {
			var part *backend.Unfinished
			if !errors.As(err, &part) || !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), making.Do) {
				t.Errorf("after %d steps, %s: %v", n+1, who, err)
			}
		}
		if n >= 1 {
			if found := damageOf(t, path); len(found) != 1 || !strings.Contains(found[0].Problem, "`adshard import`") {
				t.Errorf("after %d steps, damage: %v", n+1, found)
			}
		}
		complete(t, path, making)
		if found := damageOf(t, path); len(found) > 0 {
			t.Errorf("completed after %d steps: %v", n+1, found)
		}
		if err := opening(t, path, Options{}); err != nil {
			t.Errorf("completed after %d steps: %v", n+1, err)
		}
	}
}

// TestSeveralMakeADatabase: a database is complete only when all programs that make it have done their parts.
func TestSeveralMakeADatabase(t *testing.T) {
	steps := made(t)
	path := steps[len(steps)-2]
	complete(t, path, beside)
	if err := opening(t, path, Options{}); err == nil || strings.Contains(err.Error(), beside.Do) || !strings.Contains(err.Error(), making.Do) {
		t.Errorf("after the second one: %v", err)
	}
	complete(t, path, making)
	if err := opening(t, path, Options{}); err != nil {
		t.Errorf("after both: %v", err)
	}
}

// TestAWholeDatabaseIsNotMade: a program that would create a missing database changes an existing one like any other
// program, until it declares that it is making it. Programs that have the database open notice that.
func TestAWholeDatabaseIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	server := opened(t, path)
	maker, err := Open(t.Context(), path, Options{Create: true, Making: copies})
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	if err := opening(t, path, Options{}); err != nil {
		t.Error(err)
	}
	if err := maker.Mark(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	if err := maker.Mark(t.Context(), making); !fault.Is(err, fault.Conflict) {
		t.Errorf("two make it: %v", err)
	}
	if err := opening(t, path, Options{}); err == nil {
		t.Error("it is opened")
	}
	if err := server.Health(t.Context()); err == nil || !strings.Contains(err.Error(), copies.Do) {
		t.Errorf("health: %v", err)
	}
	if err := maker.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if err := maker.Finish(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	if err := server.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAHeaderIsNoDatabase: SQLite writes a header before any table.
func TestAHeaderIsNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, 0, walMode)
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := opening(t, path, Options{}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("it is opened as a database without advertisers: %v", err)
	}
}

// TestKilledWhileFilesAreCopied: at each moment of a backup or a restore there is nothing under its name, and a restore does not
// accept the temporary files beside it.
func TestKilledWhileFilesAreCopied(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s := opened(t, at("ads.db"))
	if err := write(t.Context(), s, 0, 3000); err != nil {
		t.Fatal(err)
	}
	steps := 0
	absent := func(name, beside string) Progress {
		return func(string, int64, int64) {
			steps++
			if exists(at(name)) {
				t.Errorf("%s is there", name)
			}
			parts, err := filepath.Glob(at(beside))
			if err != nil || len(parts) != 1 {
				t.Errorf("%v, %v", parts, err)
			}
			for _, part := range parts {
				if _, err := Restore(t.Context(), part, at("never.db"), false, Options{}, nil); !fault.Is(err, fault.NotFound) {
					t.Errorf("restored from %s: %v", part, err)
				}
			}
		}
	}
	if _, err := Backup(t.Context(), at("ads.db"), at("backup"), Options{}, absent("backup", ".backup.partial-*")); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), at("backup"), at("restored.db"), false, Options{}, absent("restored.db", ".restored.db.restoring-*")); err != nil {
		t.Fatal(err)
	}
	if steps < 10 {
		t.Errorf("%d steps", steps)
	}
	if found := damageOf(t, at("restored.db")); len(found) > 0 {
		t.Errorf("restored: %v", found)
	}
}
