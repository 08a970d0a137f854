package barreltest

import (
	"errors"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system in memory, of a size such as "24m", until the test ends. It skips
// the test if it may not mount.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	switch err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EACCES):
		t.Skipf("a small disk needs the right to mount: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}
