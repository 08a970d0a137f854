package rocks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adshard/fault"
)

const (
	// asideSuffix followed by a time is appended to the name of a directory that is set aside.
	asideSuffix = ".set-aside-"
	asideTime   = "20060102T150405.000000000"
	// mostAside is the largest number of directories set aside. Nothing removes them, so a disk
	// that damages one store after another would otherwise fill up.
	mostAside = 3
)

// SetAside renames a directory whose database cannot be opened, without changing its files, and
// returns the new path, which is beside the old one. Errors: fault.Locked if another process uses
// it, fault.Conflict if mostAside directories exist already, fault.Unavailable if it cannot be
// moved. After an error it stays where it was.
func SetAside(dir string) (to string, err error) {
	const op = "rocks: set aside"
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // a link stays, and will point to a new directory
		return "", fault.New(fault.Unavailable, op, err)
	}
	before, err := filepath.Glob(escapeGlob(dir) + asideSuffix + "*")
	if err != nil {
		return "", fault.New(fault.Internal, op, err)
	}
	if len(before) >= mostAside {
		return "", fault.Newf(fault.Conflict, op, "%d directories have been set aside already (%s…), and no more are kept: remove those that are not needed any more, and find out what damages stores, such as the disk or the memory",
			len(before), before[0])
	}
	lock, err := takeLock(dir)
	switch {
	case fault.Is(err, fault.Locked):
		return "", err
	case err == nil: // otherwise no process of this user can hold the lock either
		defer func() { err = errors.Join(err, giveLock(lock)) }()
	}
	to = dir + asideSuffix + time.Now().UTC().Format(asideTime)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return "", fault.Newf(fault.Conflict, op, "%s is there already", to)
	}
	if err := errors.Join(os.Rename(dir, to), syncDir(filepath.Dir(dir))); err != nil {
		return "", fault.Newf(fault.Unavailable, op, "%w; make the directory above it writable, or move it away by hand", err)
	}
	return to, nil
}

// escapeGlob returns a pattern for filepath.Glob that matches exactly the given path.
func escapeGlob(path string) string {
	var out []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}
