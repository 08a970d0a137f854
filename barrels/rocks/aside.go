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
	// asideSuffix and a time name a directory that was set aside.
	asideSuffix = ".set-aside-"
	asideTime   = "20060102T150405.000000000"
	// MostAside is how many of them are kept beside a directory. Nothing removes them, and a disk that damages each
	// store anew must not be filled with them.
	MostAside = 3
)

// SetAside moves a directory whose database cannot be opened to a name beside it, as it is, and returns that. Errors:
// fault.Locked when another process uses it, fault.Conflict when as many have been set aside already as are kept,
// fault.Unavailable when it cannot be moved: it is where it was then.
func SetAside(dir string) (to string, err error) {
	const op = "rocks: set aside"
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // a link stays, and leads to a new directory
		return "", fault.New(fault.Unavailable, op, err)
	}
	before, err := filepath.Glob(globbed(dir) + asideSuffix + "*")
	if err != nil {
		return "", fault.New(fault.Internal, op, err)
	}
	if len(before) >= MostAside {
		return "", fault.Newf(fault.Conflict, op, "%d directories were set aside already (%s…), which are all that are kept: remove what is not needed any more, and look for what damages stores: the disk, the memory",
			len(before), before[0])
	}
	lock, err := takeLock(dir)
	switch {
	case fault.Is(err, fault.Locked):
		return "", err
	case err == nil: // else nobody of this user has it either
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

// globbed is a path in which nothing is a pattern.
func globbed(path string) string {
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
