package rocks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/internal/ulimit"
)

// Open opens the database in a directory or makes an empty one if there is none. If another
// database was completed (Complete), that one takes its place. Errors: fault.Version if the
// database has other families, fault.Corrupt if it is damaged, fault.Locked if another process has
// it open, fault.NoSpace.
func Open(dir string, o Options) (kv.DB, error) {
	db, err := open(dir, o)
	if err != nil {
		return nil, onceFree(err, thenStart) // not db, since a nil *database in an interface is not nil
	}
	return db, nil
}

// lockFile keeps other processes out before RocksDB looks at any file.
const lockFile = "adshard.lock"

func open(dir string, o Options) (*database, error) {
	o.SetDefaults()
	if err := errors.Join(o.Validate(), checkHeaders()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fileError(err)
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	db, err := openDB(dir, o)
	if err != nil {
		return nil, errors.Join(err, giveLock(lock))
	}
	db.lock = lock
	return db, nil
}

// fileError turns an error of the file system into a fault of the right kind.
func fileError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.New(fault.NoSpace, "rocks: open", err)
	}
	if advice := ulimit.Advice(err); advice != "" {
		return fault.Newf(fault.Unavailable, "rocks: open", "%w; %s", err, advice)
	}
	return fault.Newf(fault.Unavailable, "rocks: open", "%w; choose a directory that can be written to", err)
}

func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fileError(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(errLocked("rocks: open", err), f.Close())
	}
	return f, nil
}

// giveLock unlocks the lock file and closes it. Closing it is not enough: a child process has a
// copy of the descriptor until it runs its own program.
func giveLock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func openDB(dir string, o Options) (*database, error) {
	if err := place(dir, makeStep); err != nil {
		return nil, err
	}
	c := newConfig(o)
	if err := checkFiles(c, dir); err != nil {
		c.destroy()
		return nil, err
	}
	replayed, err := hasLog(dir)
	if err != nil {
		c.destroy()
		return nil, err
	}
	db, handles, err := grocksdb.OpenDbColumnFamilies(c.db, dir, names(), c.families)
	if err != nil {
		c.destroy()
		return nil, classify(opOpen, err)
	}
	d := newDatabase(dir, o, c, db, handles)
	if err := d.chain.begin(db, handles[len(handles)-1], replayed); err != nil {
		d.closeDB()
		return nil, err
	}
	return d, nil
}

// checkFiles examines the directory before RocksDB would create a new database in it. It looks for
// files without their CURRENT, and for families of another version.
func checkFiles(c *config, dir string) error {
	_, err := os.Stat(filepath.Join(dir, "CURRENT"))
	if errors.Is(err, fs.ErrNotExist) {
		return checkNoRemains(dir)
	}
	if err != nil {
		return fileError(err)
	}
	found, err := grocksdb.ListColumnFamilies(c.db, dir)
	if err != nil {
		return errManifest(err)
	}
	return checkFamilies(dir, found)
}

// checkFamilies returns an error unless the database has all families, or is empty and may get the
// missing ones. RocksDB ignores log entries of families that the manifest does not name.
func checkFamilies(dir string, found []string) error {
	want := names()
	lacks := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return slices.Contains(found, name) })
	if len(lacks) == 0 && len(found) == len(want) {
		return nil
	}
	empty, err := isEmpty(dir)
	if err != nil || empty && len(found)+len(lacks) == len(want) { // its creation was interrupted
		return err
	}
	if slices.Equal(found, []string{chainFamily}) {
		return fault.Newf(fault.Corrupt, opOpen, "the manifest has lost all column families; %s", kv.Refill)
	}
	slices.Sort(found)
	slices.Sort(want)
	return fault.Newf(fault.Version, "rocks: open",
		"the store has the column families %s, this program knows %s; %s",
		strings.Join(found, ", "), strings.Join(want, ", "), kv.Refill)
}

// checkNoRemains returns an error if there are files of a database that has lost its CURRENT, since
// RocksDB would consider the directory empty and remove them.
func checkNoRemains(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fileError(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "MANIFEST-") || strings.HasSuffix(name, ".sst") {
			return fault.Newf(fault.Corrupt, opOpen, "%s has %s, but no CURRENT; %s", dir, name, kv.Refill)
		}
	}
	return nil
}
