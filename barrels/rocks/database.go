package rocks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/fault"
)

// database implements kv.DB with a RocksDB database.
type database struct {
	dir     string
	options Options
	config  *config
	db      *grocksdb.DB
	handles []*grocksdb.ColumnFamilyHandle // in the order of names
	ids     [kv.Families]uint32
	chain   chain
	lock    *os.File
	failed  bool      // whether a write or the last Reopen has failed
	batch   []byte    // buffer of Write
	buffers sync.Pool // of *[]byte: buffers of iterators under a prefix
	free    func(dir string) (uint64, error)
}

func newDatabase(dir string, o Options, c *config, db *grocksdb.DB, handles []*grocksdb.ColumnFamilyHandle) *database {
	kv := &database{dir: dir, options: o, config: c, db: db, handles: handles, free: freeBytes}
	for f := range kv.ids {
		kv.ids[f] = handles[f].ID()
	}
	return kv
}

func (kv *database) handle(f kv.Family) *grocksdb.ColumnFamilyHandle { return kv.handles[f] }

// Write implements kv.DB.
func (kv *database) Write(b *kv.Batch) error {
	if err := kv.checkSpace(uint64(b.Bytes())); err != nil {
		return err
	}
	var sum uint64
	kv.batch, sum = appendBatch(kv.batch[:0], b, &kv.ids, &kv.chain)
	wb := grocksdb.WriteBatchFrom(kv.batch)
	defer wb.Destroy()
	if cap(kv.batch) > keepBatch {
		kv.batch = nil
	}
	err := kv.db.Write(kv.config.write, wb)
	if kv.failed = err != nil; !kv.failed {
		kv.chain.sum = sum
	}
	return classify("rocks: write", err)
}

// Unverified implements kv.DB.
func (kv *database) Unverified() bool { return kv.chain.unverified }

// Verified implements kv.DB.
func (kv *database) Verified() error {
	return kv.chain.verified(kv.db, kv.handles[len(kv.handles)-1])
}

// Failed implements kv.DB. RocksDB refuses writes after one has failed, and its own recovery needs
// more room than it says.
func (kv *database) Failed() bool { return kv.failed }

// Ready implements kv.DB.
func (kv *database) Ready() error { return kv.checkSpace(reopenBytes) }

// reopenBytes is a generous estimate of what opening writes: a manifest, a log and the content of
// the last log.
const reopenBytes = 2 << 20

// Reopen implements kv.DB.
func (kv *database) Reopen() error {
	kv.failed = true
	kv.closeDB()
	n, err := openDB(kv.dir, kv.options)
	if err != nil {
		return onceFree(err, thenGoOn)
	}
	kv.config, kv.db, kv.handles, kv.ids, kv.chain = n.config, n.db, n.handles, n.ids, n.chain
	kv.failed = false
	return nil
}

// Recreate implements kv.Recreator. It removes only RocksDB's own files.
func (kv *database) Recreate() error {
	kv.failed = true
	kv.closeDB()
	if kv.lock != nil {
		_ = giveLock(kv.lock) // it may be the lock of a directory that was removed
		kv.lock = nil
	}
	if err := os.MkdirAll(kv.dir, 0o700); err != nil {
		return fileError(err)
	}
	lock, err := takeLock(kv.dir)
	if err != nil {
		return err
	}
	kv.lock = lock
	if err := errors.Join(removeFiles(kv.dir), os.RemoveAll(filepath.Join(kv.dir, completeDir))); err != nil {
		return err
	}
	return kv.Reopen()
}

// removeFiles removes RocksDB's files from a directory.
func removeFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fileError(err)
	}
	for _, e := range entries {
		if name := e.Name(); databaseFile.MatchString(name) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return fileError(err)
			}
		}
	}
	return nil
}

// Present implements kv.Recreator.
func (kv *database) Present() error {
	here, err := os.Stat(filepath.Join(kv.dir, lockFile))
	if err == nil {
		_, err = os.Stat(filepath.Join(kv.dir, "CURRENT"))
	}
	if err == nil && kv.lock != nil {
		var own os.FileInfo
		if own, err = kv.lock.Stat(); err == nil && os.SameFile(own, here) {
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "rocks: look for files", err)
	}
	return fault.Newf(fault.NotFound, "rocks: look for files", "the store's files in %s are gone: the directory was removed or replaced", kv.dir)
}

// closeDB closes the database, if it is open.
func (kv *database) closeDB() {
	if kv.db == nil {
		return
	}
	for _, h := range kv.handles {
		h.Destroy()
	}
	kv.db.Close()
	kv.config.destroy()
	kv.db, kv.handles = nil, nil
}

// keepBatch is the capacity of a batch's bytes that is kept for the next one.
const keepBatch = 64 << 20

// checkSpace returns an error if the disk has no room for a batch. The batch is written to the log
// and, soon after, to a table file.
func (kv *database) checkSpace(size uint64) error {
	free, err := kv.free(kv.dir)
	if err != nil {
		return fault.New(fault.Unavailable, "rocks: write", err)
	}
	if need := 2*size + kv.options.MinFreeBytes; free < need {
		return fault.Newf(fault.NoSpace, "rocks: write",
			"the disk of %s is full, %d MiB must stay free: free some space, the store continues automatically",
			mountOf(kv.dir), kv.options.MinFreeBytes>>20)
	}
	return nil
}

func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// Compact implements kv.DB. It compacts everything, so that deleted keys and many small files no
// longer slow down reads.
func (kv *database) Compact(ctx context.Context) {
	o := grocksdb.NewCompactRangeOptions()
	defer o.Destroy()
	o.SetExclusiveManualCompaction(false)
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		kv.db.DisableManualCompaction() // ends the compaction under way
	})
	for _, h := range kv.handles {
		if ctx.Err() == nil {
			kv.db.CompactRangeCFOpt(h, grocksdb.Range{}, o)
		}
	}
	if !stop() {
		<-stopped
		kv.db.EnableManualCompaction()
	}
}

// flush writes all data that are only in the log to table files, those of the chain last.
func (kv *database) flush() error {
	o := grocksdb.NewDefaultFlushOptions()
	defer o.Destroy()
	for _, h := range kv.handles {
		if err := kv.db.FlushCF(h, o); err != nil {
			return classify("rocks: flush", err)
		}
	}
	return nil
}

// Memory implements kv.DB.
func (db *database) Memory() kv.Memory {
	m := kv.Memory{Cache: db.config.cache.GetUsage()}
	for _, h := range db.handles {
		tables, _ := db.db.GetIntPropertyCF("rocksdb.estimate-table-readers-mem", h) // 0 if it is not known
		buffers, _ := db.db.GetIntPropertyCF("rocksdb.size-all-mem-tables", h)
		m.Tables, m.Buffers = m.Tables+tables, m.Buffers+buffers
	}
	return m
}

// DiskBytes implements kv.DB.
func (kv *database) DiskBytes() uint64 {
	entries, err := os.ReadDir(kv.dir)
	if err != nil {
		return 0
	}
	var sum uint64
	for _, e := range entries {
		if i, err := e.Info(); err == nil && i.Mode().IsRegular() {
			sum += uint64(i.Size())
		}
	}
	return sum
}

// Close implements kv.DB. All snapshots must be closed. Data that are only in the log are written
// to table files first, since opening is then quicker than with a log to replay. If that fails, the
// log still has them.
func (kv *database) Close() error {
	if kv.db != nil && !kv.failed && kv.Ready() == nil {
		_ = kv.flush()
	}
	kv.closeDB()
	if kv.lock == nil {
		return nil
	}
	return giveLock(kv.lock)
}
