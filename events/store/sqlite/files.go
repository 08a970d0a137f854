package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"adshard/fault"
)

// files are the files of an open database by path: the database and, for a writer, its write-ahead
// log and the log's index. SQLite goes on with files that were removed or replaced. What it then
// acknowledges is lost when it ends, and another program that makes a new log or index beside it
// does not see its locks.
type files []openFile

type openFile struct {
	path string
	info fs.FileInfo
}

// errLogGone: the log of a database that is open was removed, and there is no other. What is in it can still be copied
// into the database.
var errLogGone = errors.New("its write-ahead log is gone")

// makeFile makes the file of a database, if there is none, with access for its owner only, whatever
// the umask. SQLite gives the log and its index the same mode. Anyone who may open the index can
// lock the database for as long as they like. An existing file is not opened: closing it would
// release locks that another connection of this process may hold.
func makeFile(path string) error {
	err := syscall.Mknod(path, syscall.S_IFREG|0o600, 0)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// filesOf returns the files of a database that is open.
func filesOf(path string, writes bool) (files, error) {
	paths := []string{path}
	if writes {
		target, err := filepath.EvalSymlinks(path) // SQLite puts the others beside the file that a link leads to
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

// present fails unless all paths still name the open files.
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
