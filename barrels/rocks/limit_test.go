package rocks_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"adshard/barrels/rocks"
	"adshard/fault"
)

// TestTooManyOpenFiles repeats the test with other files open: which numbers are free decides
// at which file the limit is reached.
func TestTooManyOpenFiles(t *testing.T) {
	dir := t.TempDir()
	for range 4 {
		testTooManyOpenFiles(t, dir)
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
}

// testTooManyOpenFiles opens a store with every limit of open files from none to enough.
// Whichever file exceeds the limit, the error names the limit and the command to raise it, and
// does not blame the disk.
func testTooManyOpenFiles(t *testing.T, dir string) {
	t.Helper()
	db, err := rocks.Open(dir, rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for few := openFiles(t); ; few++ {
		err := openWith(t, dir, few)
		if err == nil {
			break
		}
		refused++
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") || strings.Contains(err.Error(), "disk") || strings.Contains(err.Error(), "choose") {
			t.Errorf("%d files: %v", few, err)
		}
	}
	if refused < 5 {
		t.Errorf("only %d limits were too low", refused)
	}
}

// openFiles returns the number of files that this process has open.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries) - 1 // without the directory itself
}

// openWith opens and closes a store under a limit.
func openWith(t *testing.T, dir string, few int) error {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	low := was
	low.Cur = uint64(few)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	db, err := rocks.Open(dir, rocks.Options{})
	if restore := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); restore != nil {
		t.Fatal(restore)
	}
	if err == nil {
		err = db.Close()
	}
	return err
}
