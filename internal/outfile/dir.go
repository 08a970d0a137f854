package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"adshard/fault"
)

// MakeDir makes a missing directory, and missing directories above it, accessible only to their owner. Errors:
// fault.Invalid for a name that belongs to a database, or a place in a slave's store or a backup; fault.NoSpace;
// fault.Unavailable.
func MakeDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return diskError(err)
	}
	dir = target(dir)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := checkPlace(dir); err != nil {
		return err
	}
	if above := filepath.Dir(dir); above != dir {
		if err := MakeDir(above); err != nil {
			return err
		}
	}
	err = os.Mkdir(dir, 0o700)
	if info, e := os.Stat(dir); errors.Is(err, fs.ErrExist) && e == nil && info.IsDir() {
		return nil // another program has made it meanwhile
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.Newf(fault.Invalid, "", "%s is a file: name a directory", dir)
	}
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	return diskError(err)
}

// CheckName returns fault.Invalid for a path of a database that belongs to another database, or that has files of a
// missing database next to it. If there is no database yet, it also returns fault.Invalid for a place in a slave's
// store or a backup.
func CheckName(path string) error {
	info, _ := os.Stat(path) // nil if there is no file
	if side := orphan(target(path), info); side != "" {
		return fault.Newf(fault.Invalid, "", "%s: %s is of a database that is gone, and would be lost: move it away, or name another file", path, side)
	}
	if info == nil || info.Mode().IsRegular() && info.Size() == 0 {
		return checkPlace(path)
	}
	if openElsewhere(target(path), info) {
		return fault.Newf(fault.Invalid, "", "%s: a program has this file open by another name (a hard link), and two logs of one database destroy it: name it as that program does", path)
	}
	for _, p := range names(path) {
		if of := owner(p); of != "" {
			return fault.Newf(fault.Invalid, "", "%s: a file of that name is taken for a part of the database %s: name another one", path, of)
		}
	}
	return nil
}

// CheckApart returns fault.Invalid if two paths for databases, which need not exist, are the same file, or one of them is a name
// that belongs to the other.
func CheckApart(path, other string) error {
	for _, pair := range [][2]string{{path, other}, {other, path}} {
		for _, of := range names(pair[0]) {
			for _, side := range []string{"", "-wal", "-shm", "-journal"} {
				if Same(of+side, pair[1]) {
					return fault.Newf(fault.Invalid, "", "%s and %s cannot both be databases: one is a file of the other; name another one", path, other)
				}
			}
		}
	}
	return nil
}

// leastPage is the size of the smallest database. If a database is smaller or missing, SQLite removes its write-ahead
// log without reading it.
const leastPage = 512

// orphan returns the write-ahead log next to a database that is missing or was cut off, or "" if there is none. info
// is nil if the database is missing.
func orphan(path string, info fs.FileInfo) string {
	if info != nil && (!info.Mode().IsRegular() || info.Size() >= leastPage) {
		return ""
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return path + "-wal"
	}
	return ""
}

// CheckReplaced returns fault.Invalid if the file at a path is not a database, so that no database may replace it. It
// opens the file, so this process must not have it open already (isDatabase).
func CheckReplaced(path string) error {
	for _, p := range names(path) {
		if is := holder(filepath.Dir(p)); is != "" {
			return fault.Newf(fault.Invalid, "", "%s: %s is %s, which has only files of its own: name a file elsewhere", path, filepath.Dir(p), is)
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fault.Newf(fault.Invalid, "", "%s is not a regular file: name another one", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return diskError(err)
	}
	defer f.Close()
	if !Begins(databaseMagic)(f) {
		return fault.Newf(fault.Invalid, "", "%s is not a database, and is not replaced by one: name another file, or move it away", path)
	}
	return nil
}

// openElsewhere reports whether a database with several names is open under another name. SQLite keeps the log next to the name
// by which a file was opened; here there is none next to this name, although some process holds a lock on the file.
func openElsewhere(path string, info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || at.Nlink < 2 {
		return false
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return false
	}
	return locked(info)
}

// locked reports whether some process holds a lock on a file, as a process does that has a database open. It works
// only on Linux.
func locked(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	locks, _ := os.ReadFile("/proc/locks")
	return strings.Contains(string(locks), fmt.Sprintf(":%d ", at.Ino))
}

// checkPlace returns an error for a name that belongs to a database, and for a place in a slave's store or a backup.
func checkPlace(path string) error {
	if err := free(path, false); err != nil {
		return fault.Newf(fault.Invalid, "", "%s: %w", path, err)
	}
	return nil
}

// CheckDir is for a command that makes files in a directory. It returns fault.Invalid if the directory is a backup,
// if it is a slave's store and store is not set, or if there is a file in its place.
func CheckDir(dir string, store bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fault.Newf(fault.Invalid, "", "%s is a file: name a directory", dir)
	}
	if is := holder(dir); is != "" && !(store && is == aStore) {
		return fault.Newf(fault.Invalid, "", "%s is %s, which has only files of its own: name another directory", dir, is)
	}
	return checkPlace(dir)
}

// storeNames are what a slave writes into the directory of its store before the store itself; lost+found belongs to a
// disk.
var storeNames = []string{"instance", "adopted-by", "incoming", "checkpoints", "lost+found"}

// copyNames are files that show that a store is being copied into a directory. Its other files are then in any state
// (rocks.Complete).
var copyNames = []string{"copy.lock", "complete", "placing"}

// CheckStore returns fault.Invalid if a directory for a slave's store has files of something else, or CheckDir returns an error.
// RocksDB would take some of the files for its own, and the whole directory would be set aside with the store.
func CheckStore(dir string) error {
	if err := CheckDir(dir, true); err != nil || holder(dir) == aStore {
		return err
	}
	list, _ := os.ReadDir(dir) // if it cannot be read, opening the store fails
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return slices.Contains(copyNames, e.Name()) }) {
		return nil
	}
	for _, e := range list {
		if !slices.Contains(storeNames, e.Name()) {
			return fault.Newf(fault.Invalid, "", "%s has %s, and is not a slave's store: name an empty directory, or one that is not there yet", dir, e.Name())
		}
	}
	return nil
}

// Dir is a directory that is made under another name first. The caller must call End.
type Dir struct {
	// Path is where to put its files.
	Path string
	to   string
}

// NewDir begins a directory that gets its name when it is complete. It makes missing directories above it. Errors:
// fault.Conflict if the directory exists, and those of MakeDir.
func NewDir(to string) (*Dir, error) {
	if err := absent(to); err != nil {
		return nil, err
	}
	if err := checkPlace(to); err != nil {
		return nil, err
	}
	to = filepath.Clean(to)
	if err := MakeDir(filepath.Dir(to)); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".partial-")
	if err != nil {
		return nil, diskError(err)
	}
	return &Dir{Path: dir, to: to}, nil
}

func absent(to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fault.Newf(fault.Conflict, "", "%s exists: name a new directory", to)
	}
	return nil
}

// End gives the directory its name and makes that durable. If err is not nil, or End fails, it removes the directory
// and returns the error.
func (d *Dir) End(err error) error {
	if err == nil {
		err = absent(d.to)
	}
	if err == nil {
		err = diskError(errors.Join(os.Rename(d.Path, d.to), syncDir(filepath.Dir(d.to))))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(d.Path))
	}
	return nil
}

// diskError returns an error of the file system with a kind.
func diskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.New(fault.NoSpace, "", err)
	}
	return fault.New(fault.Unavailable, "", err)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
