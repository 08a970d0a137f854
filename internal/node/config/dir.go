package config

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"adshard/fault"
)

// DirError returns an error that says what to do about a directory that cannot be
// created or written.
func DirError(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fault.Newf(fault.NoSpace, "open directory", "%w: the disk of %s is full; make room", err, dir)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return fault.Newf(fault.Invalid, "open directory", "%w: this user may not write there; choose another directory or change its owner", err)
	}
	return fault.Newf(fault.Invalid, "open directory", "%w: choose another directory than %s", err, dir)
}

// WriteFile writes a configuration to a file, atomically. Errors: those of DirError.
func WriteFile(path string, cfg any) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return DirError(filepath.Dir(path), err)
	}
	err = errors.Join(Write(f, cfg), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return DirError(filepath.Dir(path), err)
	}
	return nil
}
