package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"adshard/fault"
	"adshard/internal/outfile"
	"adshard/internal/ulimit"
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
	if advice := ulimit.Advice(err); advice != "" {
		return fault.Newf(fault.Unavailable, "open directory", "%w: %s", err, advice)
	}
	return fault.Newf(fault.Invalid, "open directory", "%w: choose a different directory than %s", err, dir)
}

// WriteFile writes a configuration to a file that belongs to the program, atomically. Errors: those of
// DirError.
func WriteFile(path string, cfg any) error {
	own := outfile.Output{Path: path, Kind: outfile.Kind{Name: "a configuration"}, Force: true} // the caller has read the file before
	if err := own.Write(func(w io.Writer) error { return Write(w, cfg) }); err != nil {
		return DirError(filepath.Dir(path), err)
	}
	return nil
}
