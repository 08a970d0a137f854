package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/events/store"
	"adshard/events/store/sqlite"
	"adshard/events/store/storetest"
	"adshard/fault"
)

// childEnv has the path of the file to which a child process adds.
const childEnv = "ADSHARD_EVENTS_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, child(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func child(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // in case the parent has ended
	defer cancel()
	s, err := sqlite.Open(ctx, path)
	if err == nil {
		err = storetest.Child(ctx, s, os.Stdout)
	}
	return err
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestFilesAreTheirOwners tests that only the owner can read a new database, its log and its index, whatever the umask is.
func TestFilesAreTheirOwners(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077} {
		before := syscall.Umask(mask)
		path := filepath.Join(t.TempDir(), "events.db")
		s, err := sqlite.Open(t.Context(), path)
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(path + side); err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %03o: %s has %v, %v", mask, filepath.Base(path)+side, info.Mode(), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (a, b store.Store) {
		path := filepath.Join(t.TempDir(), "events.db")
		return open(t, path), open(t, path)
	})
}

func TestIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	storetest.Identity(t, func() store.Store { return open(t, path) }, open(t, path+".other"))
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	storetest.Kill(t, open(t, path), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+path)
		return c
	})
}

func TestKillFold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	storetest.KillFold(t, open(t, path), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+path)
		return c
	})
}

// TestOpen tests that files that are not files of events are rejected, and with which kind of error.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	garbage, newer, other := filepath.Join(dir, "garbage"), filepath.Join(dir, "newer"), filepath.Join(dir, "other")
	if err := os.WriteFile(garbage, []byte("this is not a database, but it is long enough to look like one to SQLite, "+
		"which reads a hundred bytes of header before it says so"), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, newer, "PRAGMA user_version = 99")
	execute(t, other, "CREATE TABLE t (x)")
	for path, kind := range map[string]fault.Kind{
		garbage: fault.Corrupt, newer: fault.Version, other: fault.Version, filepath.Join(dir, "none", "x"): fault.Unavailable,
	} {
		if s, err := sqlite.Open(t.Context(), path); !fault.Is(err, kind) {
			t.Errorf("%s: %v, %v, want %v", filepath.Base(path), s, err, kind)
		}
	}
}

// TestReader tests that a reader creates no file and changes none.
func TestReader(t *testing.T) {
	dir := t.TempDir()
	none, empty, before, now := filepath.Join(dir, "none"), filepath.Join(dir, "empty"), filepath.Join(dir, "before"), filepath.Join(dir, "now")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, before, "PRAGMA user_version = 2")
	open(t, now)
	for path, kind := range map[string]fault.Kind{none: fault.NotFound, empty: fault.Version, before: fault.Version} {
		was, _ := os.ReadFile(path)
		if s, err := sqlite.OpenReader(t.Context(), path); s != nil || !fault.Is(err, kind) {
			t.Errorf("%s: %v, %v, want %v", filepath.Base(path), s, err, kind)
		}
		if is, err := os.ReadFile(path); !slices.Equal(is, was) || path == none && err == nil {
			t.Errorf("%s was changed: %v", filepath.Base(path), err)
		}
	}
	s, err := sqlite.OpenReader(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Sums(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if err := s.(store.Store).SetMark(t.Context(), store.Mark{Campaign: 1, Day: 1}); err == nil {
		t.Error("it writes")
	}
}

func execute(t testing.TB, path, sql string) {
	t.Helper()
	c, err := zs.OpenConn(path)
	if err == nil {
		err = sqlitex.ExecuteTransient(c, sql, nil)
		c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// earlier changes a table of a new file to what it was when it was made in steps, before there was one schema.
const earlier = `DROP TABLE horizon; CREATE TABLE horizon (id BLOB NOT NULL) STRICT; INSERT INTO horizon VALUES (x'');
ALTER TABLE horizon ADD COLUMN database TEXT NOT NULL DEFAULT '';`

func TestNextFormat(t *testing.T) {
	for name, script := range map[string]string{"made at once": "", "made in steps": earlier} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.db")
			open(t, path)
			scripted(t, path, script)
			storetest.NextFormat(t, open(t, path), func() (store.Store, error) {
				s, err := sqlite.OpenNext(t.Context(), path)
				if err == nil {
					t.Cleanup(func() { s.Close() })
				}
				return s, err
			}, func() (store.Store, error) { return sqlite.Open(t.Context(), path) })
			if err := sqlite.Probe(t.Context(), path); !fault.Is(err, fault.Version) {
				t.Errorf("probed: %v", err)
			}
		})
	}
}

func TestFormat3(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	storetest.Format3(t, open(t, path), func() { scripted(t, path, "DROP TABLE identity; PRAGMA user_version = 3;") },
		func() store.Store { return open(t, path) })
}

// TestFormatsThatWereNotReleased tests that a file of such a format is rejected and left as it is.
func TestFormatsThatWereNotReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	execute(t, path, "PRAGMA user_version = 2")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, opened := sqlite.Open(t.Context(), path)
	_, read := sqlite.OpenReader(t.Context(), path)
	for name, err := range map[string]error{"opened": opened, "read": read, "probed": sqlite.Probe(t.Context(), path)} {
		if !fault.Is(err, fault.Version) || !strings.Contains(err.Error(), "open it once with the program of format 3") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(after, before) {
		t.Errorf("it was changed: %v", err)
	}
}

// TestHeld tests that a copy has the state at the time of Hold and is complete, although others add events in the meantime. A
// damaged file, or one of another database, is not accepted as a copy.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "events.db"), filepath.Join(dir, "copy.db")
	s := open(t, path)
	count := func(n uint64, within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := s.Add(ctx, []store.Event{storetest.EventOf(n, 0)})
		return err
	}
	if err := count(1, time.Minute); err != nil {
		t.Fatal(err)
	}
	h, err := sqlite.Hold(t.Context(), path, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := count(2, 50*time.Millisecond); err == nil {
		t.Error("somebody writes to what is held")
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if err := count(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := h.Copy(t.Context(), to, "one"); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	sums, err := open(t, to).Sums(t.Context(), 0)
	if err != nil || len(sums) != 1 || sums[0].Impressions+sums[0].Clicks != 1 {
		t.Errorf("the copy has %v, %v", sums, err)
	}
	if _, err := sqlite.Hold(t.Context(), path, "another"); !fault.Is(err, fault.Conflict) {
		t.Errorf("of another database: %v", err)
	}
	execute(t, path, "UPDATE spent SET spend = spend + 1, clicks = clicks + 1")
	if err := sqlite.Check(t.Context(), path, "one"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("damaged: %v", err)
	}
}

// TestFileAway tests that nothing is acknowledged while the file is not in its place, and that the store works again when the
// file is back.
func TestFileAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	add := func(n uint64) ([]store.Outcome, error) {
		return s.Add(t.Context(), []store.Event{storetest.EventOf(n, 0)})
	}
	if _, err := add(1); err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if replace {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := add(2); !fault.Is(err, fault.Unavailable) {
			t.Errorf("replaced %v: %v", replace, err)
		}
		if err := s.Health(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("replaced %v: health %v", replace, err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := add(2); err != nil || out[0] != store.Counted {
		t.Errorf("%v, %v", out, err)
	}
}

// TestLogAway tests what happens if the write-ahead log or its index is removed or replaced while a program counts. No event
// is acknowledged that is lost later. Events acknowledged before are there once after the program was killed, and others are
// counted when they are sent again.
func TestLogAway(t *testing.T) {
	for name, happen := range map[string]func(string) error{
		"-wal": os.Remove, "-shm": os.Remove,
		"-wal replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
		"-shm replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "events.db")
			s := open(t, path)
			for n := range uint64(50) {
				if _, err := s.Add(t.Context(), []store.Event{storetest.EventOf(n, 0)}); err != nil {
					t.Fatal(err)
				}
			}
			suffix, _, replaced := strings.Cut(name, " ")
			if err := happen(path + suffix); err != nil {
				t.Fatal(err)
			}
			for n := range uint64(3) {
				if out, err := s.Add(t.Context(), []store.Event{storetest.EventOf(50+n, 0)}); !fault.Is(err, fault.Unavailable) {
					t.Errorf("%v, %v", out, err)
				}
			}
			if err := s.Health(t.Context()); !fault.Is(err, fault.Unavailable) {
				t.Errorf("health: %v", err)
			}
			if replaced { // the log is in no file any more; only its backup has it
				return
			}
			killed := filepath.Join(dir, "killed.db") // the files that a process killed now would leave
			if suffix == "-shm" {
				copyFile(t, path+"-wal", killed+"-wal")
			}
			copyFile(t, path, killed)
			again := open(t, killed)
			for n := range uint64(53) {
				out, err := again.Add(t.Context(), []store.Event{storetest.EventOf(n, 0)})
				if err != nil || n < 50 && out[0] != store.Duplicate {
					t.Fatalf("event %d: %v, %v", n, out, err)
				}
			}
			if sums, err := again.Sums(t.Context(), 0); err != nil || total(sums) != 53 {
				t.Errorf("%d events are counted, %v", total(sums), err)
			}
		})
	}
}

// TestLogRemovedBetweenStarts tests that a log may be removed while no program runs, since the last program copied it into the
// database when it ended properly. The index is made again.
func TestLogRemovedBetweenStarts(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		path := filepath.Join(t.TempDir(), "events.db")
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(50) {
			if _, err := s.Add(t.Context(), []store.Event{storetest.EventOf(n, 0)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if sums, err := open(t, path).Sums(t.Context(), 0); err != nil || total(sums) != 50 {
			t.Errorf("without %s: %d events, %v", suffix, total(sums), err)
		}
	}
}

func total(sums []store.Sum) (n uint64) {
	for _, s := range sums {
		n += s.Impressions + s.Clicks
	}
	return n
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLockedByAnother tests that Add waits until its context ends while another program writes.
func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	s := open(t, path)
	other, err := zs.OpenConn(path, zs.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := sqlitex.ExecuteTransient(other, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Add(ctx, []store.Event{storetest.EventOf(1, 0)}); !fault.Is(err, fault.Deadline) {
		t.Errorf("%v", err)
	}
	if err := sqlitex.ExecuteTransient(other, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Add(t.Context(), []store.Event{storetest.EventOf(1, 0)}); err != nil || out[0] != store.Counted {
		t.Errorf("%v, %v", out, err)
	}
}

func BenchmarkAdd(b *testing.B) {
	storetest.Bench(b, open(b, filepath.Join(b.TempDir(), "events.db")))
}

func BenchmarkFold(b *testing.B) {
	for _, keywords := range []uint64{10_000, 0} {
		b.Run(fmt.Sprint("keywords=", keywords), func(b *testing.B) {
			storetest.BenchFold(b, open(b, filepath.Join(b.TempDir(), "events.db")), keywords)
		})
	}
}
