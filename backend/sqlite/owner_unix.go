//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// withoutWaiting holds flags with which opening a file does not wait for a pipe's writer and does not follow a link.
const withoutWaiting = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// likeness gives a file the owner and the permissions of another file, if that file exists.
func likeness(file, of string) error {
	want, err := os.Stat(of)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	is, err := os.Stat(file)
	if err != nil {
		return err
	}
	a, b := want.Sys().(*syscall.Stat_t), is.Sys().(*syscall.Stat_t)
	if a.Uid != b.Uid || a.Gid != b.Gid {
		if err := os.Chown(file, int(a.Uid), int(a.Gid)); err != nil {
			return fmt.Errorf("give the restored file the owner of %s: %w: run this as that user", of, err)
		}
	}
	return os.Chmod(file, want.Mode().Perm())
}

// room returns the number of bytes that are free for this user on the disk of a file.
func room(file string) (uint64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(filepath.Dir(file), &s)
	return s.Bavail * uint64(s.Bsize), err
}
