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

// MakeDir makes a directory that is missing, and those above it, for their owner only. Kinds of errors: fault.Invalid
// for a name that belongs to a database, or a place in a slave's store or a backup; fault.NoSpace, fault.Unavailable.
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
		return nil // it was made meanwhile
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.Newf(fault.Invalid, "", "%s is a file: name a directory", dir)
	}
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	return diskError(err)
}

// CheckName refuses a path for a database that belongs to another database, or that has files of a missing database
// next to it. Where there is no database yet it also refuses a place in a slave's store or a backup. Its errors are
// fault.Invalid.
func CheckName(path string) error {
	info, _ := os.Stat(path) // nil if there is none
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

// CheckApart refuses two paths for databases, which need not be there, if they are one file, or one has a name that belongs to the
// other: fault.Invalid.
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

// leastPage is the size of the smallest database. Of a shorter one, or none, SQLite removes the write-ahead log unread.
const leastPage = 512

// orphan returns the write-ahead log beside a database that is not there, or was cut off, or "" if there is none.
// info is nil if there is no file.
func orphan(path string, info fs.FileInfo) string {
	if info != nil && (!info.Mode().IsRegular() || info.Size() >= leastPage) {
		return ""
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return path + "-wal"
	}
	return ""
}

// CheckReplaced refuses, with fault.Invalid, to have a database take the place of anything but a database. It opens
// the file: this process must not have it open (isDatabase).
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

// openElsewhere reports whether a database that has several names is open by another one: SQLite keeps a log beside the name by
// which a file was opened, and there is none beside this name although some process holds a lock on the file.
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

// locked reports whether some process holds a lock on a file, as one has that has a database open. It is detected
// only on Linux.
func locked(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	locks, _ := os.ReadFile("/proc/locks")
	return strings.Contains(string(locks), fmt.Sprintf(":%d ", at.Ino))
}

// checkPlace refuses a name that belongs to a database, and a place in a slave's store or a backup.
func checkPlace(path string) error {
	if err := free(path, false); err != nil {
		return fault.Newf(fault.Invalid, "", "%s: %w", path, err)
	}
	return nil
}

// CheckDir refuses a directory that is a backup, or a slave's store unless it is to be one, for a command that
// makes files in it, and a file in its place: fault.Invalid.
func CheckDir(dir string, store bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fault.Newf(fault.Invalid, "", "%s is a file: name a directory", dir)
	}
	if is := holder(dir); is != "" && !(store && is == aStore) {
		return fault.Newf(fault.Invalid, "", "%s is %s, which has only files of its own: name another directory", dir, is)
	}
	return checkPlace(dir)
}

// storeNames are what a slave writes into the directory of its store before the store itself; lost+found is a disk's.
var storeNames = []string{"instance", "adopted-by", "incoming", "checkpoints", "lost+found"}

// copyNames show that a store is being copied into a directory, whose files are then in any state (rocks.Complete).
var copyNames = []string{"copy.lock", "complete", "placing"}

// CheckStore refuses a directory for a slave's store which has files of something else, and what CheckDir refuses: fault.Invalid.
// RocksDB would take some of them for its own, and the whole directory would be set aside with the store.
func CheckStore(dir string) error {
	if err := CheckDir(dir, true); err != nil || holder(dir) == aStore {
		return err
	}
	list, _ := os.ReadDir(dir) // what cannot be read shows when the store is opened
	if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return slices.Contains(copyNames, e.Name()) }) {
		return nil
	}
	for _, e := range list {
		if !slices.Contains(storeNames, e.Name()) {
			return fault.Newf(fault.Invalid, "", "%s has %s, and is no slave's store: name an empty directory, or one that is not there yet", dir, e.Name())
		}
	}
	return nil
}

// Dir is a directory that is made under another name. It must be ended.
type Dir struct {
	// Path is where its files go.
	Path string
	to   string
}

// NewDir begins a directory that has its name when it is complete. Those above it are made. Kinds of errors: fault.Conflict
// if it exists, those of MakeDir.
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

// End gives the directory its name and makes that durable. After an error, which it returns, nothing of it is left.
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

// diskError gives an error of the file system a kind.
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
