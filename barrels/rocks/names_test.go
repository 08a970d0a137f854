package rocks_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
)

// otherName is an environment variable that tells a child which store to open while its parent
// has it open.
const otherName = "ADSHARD_TEST_OTHER_NAME"

// TestChildOpens is the child of TestOneStoreByTwoNames: it prints the result of opening a
// store.
func TestChildOpens(t *testing.T) {
	dir := os.Getenv(otherName)
	if dir == "" {
		return // this is not the child
	}
	s, err := openStore(dir, rocks.Options{})
	if err == nil {
		err = s.Close()
	}
	fmt.Println("kind:", fault.KindOf(err), err)
}

// opened reports whether another process is kept from opening a store, and returns its output.
func opened(t *testing.T, dir string) (locked bool, said string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestChildOpens$")
	c.Env = append(os.Environ(), otherName+"="+dir)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "kind: ") {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Contains(string(out), "kind: "+fault.Locked.String()), string(out)
}

// TestOneStoreByTwoNames: whatever name a second process uses for the directory of an open
// store, it cannot open it, and the first process goes on. Once the first one has ended, the
// other name works.
func TestOneStoreByTwoNames(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	for name, other := range map[string]func(t *testing.T, dir string) string{
		"the same":           func(_ *testing.T, dir string) string { return dir },
		"through its parent": func(_ *testing.T, dir string) string { return dir + "/../" + filepath.Base(dir) },
		"a link": func(t *testing.T, dir string) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"a link to its parent": func(t *testing.T, dir string) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(filepath.Dir(dir), link); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(link, filepath.Base(dir))
		},
		"a bind mount": bound,
		"without the lock file": func(t *testing.T, dir string) string { // RocksDB has its own lock file
			if err := os.Remove(filepath.Join(dir, "adshard.lock")); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := openStore(dir, rocks.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			w := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
			if err := s.Apply(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			called := other(t, dir)
			if locked, said := opened(t, called); !locked {
				t.Errorf("a second process opens what is open: %s", said)
			}
			if err := s.Apply(t.Context(), barreltest.Bulky(w, 2)); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if locked, said := opened(t, called); locked || !strings.Contains(said, "<nil>") {
				t.Errorf("when nobody has it open: %s", said)
			}
		})
	}
}

// bound also mounts a directory at another place, which it returns.
func bound(t *testing.T, dir string) string {
	t.Helper()
	at := t.TempDir()
	switch err := syscall.Mount(dir, at, "", syscall.MS_BIND, ""); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EACCES):
		t.Skipf("a directory by two names needs the right to mount: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return at
}
