package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"adshard/fault"
)

// openPart opens a file of a backup, which may be where other users can write: on a share, on a stick, in an unpacked archive.
// It must be a regular file. A symbolic link might lead to a file outside the backup, and an error about its sum would reveal
// something about it; a named pipe would block the reader; and a device might do anything when it is opened.
func openPart(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, notRegular(path, before)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && (!now.Mode().IsRegular() || !os.SameFile(before, now)) {
		err = notRegular(path, now)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notRegular(path string, info fs.FileInfo) error {
	is := "a special file"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		is = "a symbolic link"
	case mode.IsDir():
		is = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		is = "a named pipe"
	case mode&fs.ModeDevice != 0:
		is = "a device"
	case mode&fs.ModeSocket != 0:
		is = "a socket"
	case mode.IsRegular():
		is = "a different file than a moment ago"
	}
	return fault.Newf(fault.Corrupt, "sqlite: restore",
		"%s is %s; a backup has regular files only: put the file itself there, or use another backup", path, is)
}

// check returns fault.Corrupt for a size or sum that no file of a backup has. manifest and name are for the error.
func (s *FileSum) check(manifest, name string) error {
	if s.Size <= 0 || len(s.SHA256) != sumLength {
		return fault.Newf(fault.Corrupt, "sqlite: restore",
			"%s says that %s has %d bytes and a sum of %d digits, which no file of a backup has; use another backup", manifest, name, s.Size, len(s.SHA256))
	}
	return nil
}
