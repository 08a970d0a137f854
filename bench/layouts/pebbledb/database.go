package pebbledb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"adshard/barrels/kv"
	"adshard/fault"
)

// database is a Pebble database that implements kv.DB. A key is its family's number followed by
// the family's key.
type database struct {
	dir        string
	cacheBytes uint64
	db         *pebble.DB
}

// openKV opens the database in dir, or creates it.
func openKV(dir string, cacheBytes uint64) (*database, error) {
	cache := pebble.NewCache(int64(cacheBytes))
	defer cache.Unref() // the database holds a reference
	o := &pebble.Options{
		Cache: cache, Comparer: comparer(), Logger: quiet{},
		FormatMajorVersion: pebble.FormatNewest, MemTableSize: 32 << 20,
	}
	// Damaged data must give an error; by default Pebble ends the program.
	o.EventListener = &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}}
	for i := range o.Levels {
		o.Levels[i].BlockSize = 8 << 10
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.SnappyCompression }
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, classify("pebbledb: open", err)
	}
	return &database{dir: dir, cacheBytes: cacheBytes, db: db}, nil
}

// comparer orders keys by their bytes. It says which part of a key goes into Bloom filters: the
// prefix that is looked for, or the whole key.
func comparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "adshard.families"
	c.Split = func(key []byte) int {
		if len(key) == 0 {
			return 0
		}
		if n := kv.Family(key[0]).PrefixLen(); n > 0 {
			return min(1+n, len(key))
		}
		return len(key)
	}
	c.ComparePointSuffixes = bytes.Compare
	c.CompareRangeSuffixes = bytes.Compare
	return &c
}

// quiet discards Pebble's log lines; callers get errors for what they must know.
type quiet struct{}

// Infof discards the line.
func (quiet) Infof(string, ...any) {}

// Errorf discards the line: callers get the error too.
func (quiet) Errorf(string, ...any) {}

// Fatalf panics: Pebble calls it where it cannot continue.
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// classify adds a kind to an error of Pebble.
func classify(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case pebble.IsCorruptionError(err):
		return fault.Newf(fault.Corrupt, op, "%w; build the layout again", err)
	case errors.Is(err, syscall.EAGAIN):
		return fault.Newf(fault.Locked, op, "%w; close the process that has it open", err)
	case errors.Is(err, syscall.ENOSPC):
		return fault.New(fault.NoSpace, op, err)
	}
	return fault.Newf(fault.Internal, op, "%w", err)
}

func appendKey(dst []byte, f kv.Family, key []byte) []byte {
	return append(append(dst, byte(f)), key...)
}

// Write implements kv.DB.
func (db *database) Write(b *kv.Batch) error {
	w := db.db.NewBatchWithSize(b.Bytes() + 16*b.Len() + 64)
	defer w.Close()
	var key []byte
	for i := range b.Len() {
		op := b.Op(i)
		key = appendKey(key[:0], op.Family, op.Key)
		var err error
		switch op.Kind {
		case kv.Put:
			err = w.Set(key, op.Value, nil)
		case kv.Delete:
			err = w.Delete(key, nil)
		case kv.Clear:
			err = w.DeleteRange([]byte{byte(op.Family)}, []byte{byte(op.Family) + 1}, nil)
		}
		if err != nil {
			return classify("pebbledb: write", err)
		}
	}
	return classify("pebbledb: write", w.Commit(pebble.NoSync))
}

// Failed implements kv.DB.
func (kv *database) Failed() bool { return false }

// Ready implements kv.DB.
func (kv *database) Ready() error { return nil }

// Reopen implements kv.DB.
func (kv *database) Reopen() error {
	if err := kv.Close(); err != nil {
		return err
	}
	n, err := openKV(kv.dir, kv.cacheBytes)
	if err == nil {
		kv.db = n.db
	}
	return err
}

// Unverified implements kv.DB. Only Pebble checks its log, and a layout that is measured has no
// scrub.
func (kv *database) Unverified() bool { return false }

// Verified implements kv.DB.
func (kv *database) Verified() error { return nil }

// Compact implements kv.DB.
func (db *database) Compact(ctx context.Context) {
	// Compact fails only if ctx ends, or where reads fail as well.
	_ = db.db.Compact(ctx, []byte{0}, []byte{kv.Families}, false)
}

// DiskBytes implements kv.DB.
func (kv *database) DiskBytes() uint64 { return kv.db.Metrics().DiskSpaceUsage() }

// Memory implements kv.DB.
func (db *database) Memory() kv.Memory {
	m := db.db.Metrics()
	return kv.Memory{Cache: uint64(m.BlockCache.Size), Buffers: m.MemTable.Size, Tables: uint64(m.FileCache.Size)}
}

// Statistics implements kv.DB.
func (db *database) Statistics() kv.Statistics {
	m := db.db.Metrics()
	return kv.Statistics{
		Flushes: uint64(m.Flush.NumInProgress), Compactions: uint64(m.Compact.NumInProgress),
		PendingBytes: m.Compact.EstimatedDebt, Level0Files: uint64(m.Levels[0].TablesCount),
	}
}

// Close implements kv.DB.
func (kv *database) Close() error { return classify("pebbledb: close", kv.db.Close()) }
