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
// that closes a database removes its log. So a check of names beside a database that this process has open must not open that
// database.
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

// keepsLocks checks that a check leaves the locks of a database that this process has open unchanged.
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
	for range 20 { // a list of locks that changes while it is read may lack one, but a lost lock stays lost
		if err != nil || now == was {
			break
		}
		now, err = locks(path)
	}
	if err != nil || now != was {
		t.Errorf("the locks of a database that this process has open were:\n%sand are:\n%s%v", was, now, err)
	}
}

// locks returns the locks on the file of a database, as the system lists them, without duplicates. The system returns its list in
// parts, and a lock whose place changes meanwhile, as locks of other processes come and go, appears twice.
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

// TestOneDatabaseByTwoNames: an open database cannot be opened by another name of the file (a hard link), beside which SQLite would
// keep a second log. When it is closed, either name works.
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
