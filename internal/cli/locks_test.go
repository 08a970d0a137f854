package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/node/database"
	"adshard/internal/outfile"
)

// TestChecksLeaveTheLocksOfADatabase: a process that closes a file loses all of its locks on it (POSIX), and the last program
// that has a database open removes its log. So nothing that looks at names beside a database that this process has open may open
// that database.
func TestChecksLeaveTheLocksOfADatabase(t *testing.T) {
	for what, check := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"its events are opened": func(path string) error {
			events, err := database.OpenEvents(t.Context(), "sqlite:"+path+"-events")
			if err == nil {
				err = events.Close()
			}
			return err
		},
		"a name of it is checked": func(path string) error { _ = outfile.CheckName(path + "-wal"); return nil },
		"an output is checked":    func(path string) error { _ = outfile.Check(nil, outfile.Output{Path: path + "-shm"}); return nil },
		"an output at it": func(path string) error {
			_ = outfile.Check(outfile.Database(path), outfile.Output{Path: path})
			return nil
		},
		"a log is rotated onto it": func(path string) error {
			dir := t.TempDir()
			l := outfile.Log{Files: 2, Output: outfile.Output{Path: filepath.Join(dir, "log"), Kind: outfile.Kind{Name: "a log"}}}
			if err := os.Link(path, filepath.Join(dir, "log.1")); err != nil {
				return err
			}
			if err := l.Rotate(); err == nil {
				return errors.New("it was rotated")
			}
			return nil
		},
		"it is opened once more": func(path string) error {
			db, err := database.Open(t.Context(), "sqlite:"+path, false)
			if err == nil {
				err = db.Close()
			}
			return err
		},
		"it is read": func(path string) error {
			db, err := database.OpenReading(t.Context(), "sqlite:"+path)
			if err == nil {
				err = db.Close()
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			keepsLocks(t, tutorialDB(t), check)
		})
	}
}

// keepsLocks checks that a database that this process has open has the same locks after a check as before.
func keepsLocks(t *testing.T, path string, check func(path string) error) {
	t.Helper()
	db, err := database.Open(t.Context(), "sqlite:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Newest(t.Context()); err != nil {
		t.Fatal(err)
	}
	was, err := locks(path)
	if err != nil || was == "" {
		t.Fatalf("no locks of an open database: %v", err)
	}
	if err := check(path); err != nil {
		t.Fatal(err)
	}
	now, err := locks(path)
	for range 20 { // a list of locks that changes while it is read may lack one; a lost lock stays lost
		if err != nil || now == was {
			break
		}
		now, err = locks(path)
	}
	if err != nil || now != was {
		t.Errorf("the locks of a database that this process has open were:\n%sand are:\n%s%v", was, now, err)
	}
}

// locks are those on the file of a database, as the system lists them, each once: the system tells its list in parts, and one whose
// place in it changes meanwhile, as other processes' locks come and go, is told twice.
func locks(path string) (list string, err error) {
	var at syscall.Stat_t
	if err := syscall.Stat(path, &at); err != nil {
		return "", err
	}
	all, err := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, fmt.Sprintf(":%d ", at.Ino)) {
			if _, line, _ = strings.Cut(line, ": "); !strings.Contains(list, line) {
				list += line
			}
		}
	}
	return list, err
}

// TestOneDatabaseByTwoNames: a database that is open is refused by another name of the file (a hard link), beside which SQLite would
// keep a second log; when it is closed, each name will do.
func TestOneDatabaseByTwoNames(t *testing.T) {
	path := tutorialDB(t)
	other := filepath.Join(filepath.Dir(path), "other.db")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), "sqlite:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Newest(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := file(t, "ads.csv", reportData)
	status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+other, in)
	if status != exitFailed || !strings.Contains(errOut, "by another name") {
		t.Errorf("open by one name: %d %s", status, errOut)
	}
	if _, err := os.Stat(other + "-wal"); err == nil {
		t.Error("there are two logs")
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+path, in); status != exitDone {
		t.Errorf("by the name by which it is open: %d %s", status, errOut)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+other, in); status != exitDone {
		t.Errorf("closed: %d %s", status, errOut)
	}
}
