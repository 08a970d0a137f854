package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/events/store"
	"adshard/events/token"
	"adshard/internal/node/database"
)

// leftBehind makes a folder with a database and its events as killed programs leave them: the newest changes are only in the
// write-ahead logs.
func leftBehind(t *testing.T) (dir string) {
	t.Helper()
	db, list := reported(t)
	path := strings.TrimPrefix(db, "sqlite:")
	s, err := database.Open(t.Context(), db, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx, err := s.Begin(t.Context())
	if err == nil {
		if _, err = tx.Advertiser(t.Context(), "in the log alone"); err == nil {
			err = tx.Commit(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	counted, err := database.OpenEvents(t.Context(), db+"-events")
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close()
	e := list[0].Event
	e.ID = token.From(reportStart.Add(time.Hour))
	if _, err := counted.Add(t.Context(), []store.Event{e}); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, name := range []string{"ads.db", "ads.db-wal", "ads.db-events", "ads.db-events-wal"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil || len(text) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(text), err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// closed copies another folder's database and events into a new folder, as programs that end normally leave them.
func closed(t *testing.T, of string) (dir string) {
	t.Helper()
	dir = copied(t, of)
	read(t, dir) // the last program that closes a file moves its log into it
	if left, _ := filepath.Glob(filepath.Join(dir, "*-wal")); len(left) > 0 {
		t.Fatalf("left: %v", left)
	}
	return dir
}

func copied(t *testing.T, of string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(of)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// reading returns the commands that only read. Their output must be the same wherever a database is.
func reading(dir, backup string) [][]string {
	db := "sqlite:" + filepath.Join(dir, "ads.db")
	copied := "sqlite:" + filepath.Join(backup, "copy.db")
	return [][]string{
		{"db", "check", "--db", db},
		{"report", "--db", db, "--by", "keyword", "--daily", "--since", "2023-11-14", "--csv"},
		{"backup", "--db", db, "--out", filepath.Join(backup, "monday"), "--json"},
		{"report", "--db", "sqlite:" + filepath.Join(backup, "monday", "ads.db"), "--events", "sqlite:" + filepath.Join(backup, "monday", "events.db"),
			"--by", "keyword", "--daily", "--since", "2023-11-14", "--csv"},
		{"db", "migrate", "--from", db, "--to", copied},
		{"db", "check", "--db", copied},
		{"import", "--db", db, "--dry-run", filepath.Join(backup, "more.csv")},
	}
}

// read runs all commands that only read, and returns their outputs.
func read(t *testing.T, dir string) (said []string) {
	t.Helper()
	backup := t.TempDir()
	if err := os.WriteFile(filepath.Join(backup, "more.csv"), []byte(editor), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range reading(dir, backup) {
		status, out, errOut := run(t, "adshard", args...)
		if status != exitDone {
			t.Errorf("%s: %d %s", strings.Join(args, " "), status, errOut)
		}
		switch args[0] {
		case "backup":
			continue // its output has a time, and is compared below
		case "import":
			out, _, _ = strings.Cut(out, "dry run") // its output has the time taken
		}
		said = append(said, strings.ReplaceAll(out, backup, "")+strings.ReplaceAll(errOut, backup, ""))
	}
	return said
}

// freeze makes a folder read-only for all users until the test is over.
func freeze(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		return
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("a file system cannot be made read-only here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyFileSystem: commands that only read can read a database and its events, including their logs, from a read-only
// file system, with the same output as elsewhere. Servers do not start on a copy that goes out of date.
func TestReadOnlyFileSystem(t *testing.T) {
	left := leftBehind(t)
	for how, dir := range map[string]string{"with logs": left, "closed": closed(t, left)} {
		want := read(t, copied(t, dir))
		if !strings.Contains(want[0], "advertisers") || !strings.HasSuffix(want[0], "no damage\n") {
			t.Errorf("%s: %s", how, want[0])
		}
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		freeze(t, dir)
		for i, got := range read(t, dir) {
			if got != want[i] {
				t.Errorf("%s, command %d: %s\nwhere it can be written: %s", how, i, got, want[i])
			}
		}
		db := "sqlite:" + filepath.Join(dir, "ads.db")
		for _, args := range [][]string{{"up", "--http", "127.0.0.1:0", "--data", t.TempDir()}, {"import", file(t, "a.csv", editor)}, {"events", "erase", "--advertiser", "1"}} {
			if status, _, errOut := run(t, "adshard", append(args, "--db", db)...); status != exitFailed || !strings.Contains(errOut, "allow this user to read and write") {
				t.Errorf("%v: %d %s", args, status, errOut)
			}
		}
		if list, _ := os.ReadDir(temporary); len(list) > 0 {
			t.Errorf("%s: left behind: %v", how, list)
		}
	}
}

// TestReadByAnotherUser: a user who may read but not write a database also reads what is only in its log.
func TestReadByAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user needs the superuser")
	}
	dir, err := os.MkdirTemp("", "adshard-test-") // unlike t.TempDir's, other users may enter it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(leftBehind(t))); err != nil {
		t.Fatal(err)
	}
	_, want, _ := run(t, "adshard", "db", "check", "--db", "sqlite:"+filepath.Join(copied(t, dir), "ads.db"))
	for name, mode := range map[string]os.FileMode{"": 0o755, "ads.db": 0o644, "ads.db-wal": 0o644} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (out, errOut string, err error) {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe") // whose own directory other users may not enter
		cmd.Env = []string{"TMPDIR=/tmp", childEnv + "=" + strings.Join([]string{"db", "check", "--db", "sqlite:" + filepath.Join(dir, "ads.db")}, "\n")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		var o, e strings.Builder
		cmd.Stdout, cmd.Stderr = &o, &e
		err = cmd.Run()
		return o.String(), e.String(), err
	}
	if got, said, err := check(); err != nil || got != want {
		t.Errorf("%v %s %s, the owner reads %s", err, said, got, want)
	}
	if err := os.Chmod(filepath.Join(dir, "ads.db-wal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, err := check(); err == nil || !strings.Contains(said, "ads.db-wal: ") {
		t.Errorf("without the log: %v %s", err, said)
	}
}
