package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/backend/sqlite"
)

// TestTooManyOpenFiles opens a database with every limit of open files from none to enough. The error names the limit, and does not
// blame permissions.
func TestTooManyOpenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	open := func(create bool) error {
		s, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: create})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := open(true); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for few := uint64(len(entries) - 1); ; few++ {
		low := was
		low.Cur = few
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		err := open(false)
		if restore := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); restore != nil {
			t.Fatal(restore)
		}
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "ulimit -n") || strings.Contains(err.Error(), "allow this user") {
			t.Errorf("%d files: %v", few, err)
		}
	}
}
