package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"adshard/fault"
)

// files are the files of an open database, with their paths: the database and, for a writer, the write-ahead log and
// its index. SQLite goes on using files that were removed or replaced. Then its commits are lost when it closes them,
// and another program, which creates a new log or index, does not see its locks.
type files []openFile

type openFile struct {
	path string
	info fs.FileInfo
}

// errLogGone says that the log of an open database was removed and that there is no other. The contents of the removed
// log can still be copied into the database.
var errLogGone = errors.New("its write-ahead log is gone")

// makeFile creates the file of a database, if there is none, with access only for its owner, whatever the umask is.
// SQLite gives the log and its index the same mode. This matters, since anyone who may open the index can lock the
// database for any time. An existing file is not opened: closing it would release locks that another connection of
// this process may hold.
func makeFile(path string) error {
	err := syscall.Mknod(path, syscall.S_IFREG|0o600, 0)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// filesOf returns the files of an open database, with those of the log if it writes.
func filesOf(path string, writes bool) (files, error) {
	paths := []string{path}
	if writes {
		target, err := filepath.EvalSymlinks(path) // SQLite puts the other files beside the target of a link
		if err != nil {
			return nil, err
		}
		paths = append(paths, target+"-wal", target+"-shm")
	}
	var all files
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		all = append(all, openFile{p, info})
	}
	return all, nil
}

// present returns an error unless the paths still name the files that are open.
func (f files) present(op string) error {
	for i, file := range f {
		now, err := os.Stat(file.path)
		switch {
		case err == nil && os.SameFile(now, file.info):
		case i == 0:
			return fault.Newf(fault.Unavailable, "sqlite: "+op, "%s was removed or replaced: put the file back, or restart this program", file.path)
		case errors.Is(err, fs.ErrNotExist):
			return fault.Newf(fault.Unavailable, "sqlite: "+op, "%s was removed (%w): nothing is lost that was acknowledged; restart this program, and leave the file alone",
				file.path, errLogGone)
		default:
			return fault.Newf(fault.Unavailable, "sqlite: "+op, "%s was replaced: end all programs that use the database, and start them again", file.path)
		}
	}
	return nil
}
