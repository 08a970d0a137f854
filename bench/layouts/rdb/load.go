package rdb

import (
	"fmt"

	"github.com/linxGnu/grocksdb"
)

// maxFile is the approximate size at which a database continues in another
// file, less than the limit of 2 GiB for a plain table. Fifteen million
// keywords fit.
const maxFile = 3 << 29

// loading are the options with which a database is filled: a list in memory
// that is sorted once and written as one file.
var loading = tuning{
	"create_if_missing=true", "info_log_level=FATAL_LEVEL", "disable_auto_compactions=true",
	"memtable=vector", "allow_concurrent_memtable_write=false", fmt.Sprintf("write_buffer_size=%d", maxFile),
}

// loader writes pairs in batches.
type loader struct {
	db    *grocksdb.DB
	o     *grocksdb.WriteOptions
	batch *grocksdb.WriteBatch
	n     int
}

func newLoader(db *grocksdb.DB) *loader {
	l := &loader{db: db, o: grocksdb.NewDefaultWriteOptions(), batch: grocksdb.NewWriteBatch()}
	l.o.DisableWAL(true)
	return l
}

func (l *loader) put(key, value []byte) error {
	l.batch.Put(key, value)
	if l.n++; l.n%1024 != 0 {
		return nil
	}
	return l.flush()
}

// flush writes the batch.
func (l *loader) flush() error {
	defer l.batch.Clear()
	if err := l.db.Write(l.o, l.batch); err != nil {
		return unwritable(err)
	}
	return nil
}

// finish writes the file.
func (l *loader) finish() error {
	if err := l.flush(); err != nil {
		return err
	}
	o := grocksdb.NewDefaultFlushOptions()
	defer o.Destroy()
	if err := l.db.Flush(o); err != nil {
		return unwritable(err)
	}
	return nil
}

func (l *loader) destroy() {
	l.batch.Destroy()
	l.o.Destroy()
}
