package paired

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns how many of a file's pages are in the page cache.
func resident(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]byte, (len(b)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, no := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&pages[0])))
	if err := unix.Munmap(b); err != nil || no != 0 {
		t.Fatal(err, no)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}

func TestKeepCold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "below", "data")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if resident(t, path) == 0 {
		t.Skip("this file system does not show what it holds in memory")
	}
	stop, err := KeepCold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := resident(t, path); n > 0 && !inMemory(t, dir) {
		t.Errorf("%d pages are still in memory", n)
	}
	if err := os.Remove(path); err != nil { // stores may remove files meanwhile
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := forget(filepath.Join(dir, "none"), true); err != nil {
		t.Errorf("a directory that is gone: %v", err)
	}
}

// inMemory reports whether a directory is in a file system without a disk.
func inMemory(t *testing.T, dir string) bool {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC
}
