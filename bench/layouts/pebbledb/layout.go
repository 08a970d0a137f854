package pebbledb

import (
	"context"
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"adshard/barrels/kv"
	"adshard/bench/layouts"
	"adshard/bench/layouts/served"
	"adshard/fault"
)

// Layout returns the layout "PebbleDB".
func Layout() layouts.Layout { return served.On("PebbleDB", engine{}) }

// engine implements served.Engine with Pebble.
type engine struct{}

// Runs implements served.Engine.
func (engine) Runs(dir string) (kv.Runs, error) {
	work := dir + ".building"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fault.New(fault.Internal, "pebbledb: build", err)
	}
	db, err := openKV(dir, buildCache)
	if err != nil {
		return nil, err
	}
	return runs{db, work}, nil
}

// buildCache is the cache size while a store is built, when nothing is read.
const buildCache = 8 << 20

// Open implements served.Engine.
func (engine) Open(dir string, cacheBytes uint64) (kv.DB, error) {
	db, err := openKV(dir, cacheBytes)
	if err != nil {
		return nil, err // no database, not even a nil pointer in an interface
	}
	return db, nil
}

// Matching implements served.Engine.
func (engine) Matching(dir string) (sum uint64, err error) {
	db, err := openKV(dir, buildCache)
	if err != nil {
		return 0, err
	}
	for _, f := range []kv.Family{kv.Postings, kv.Terms} {
		n, e := db.db.EstimateDiskUsage([]byte{byte(f)}, []byte{byte(f) + 1})
		sum, err = sum+n, errors.Join(err, e)
	}
	return sum, errors.Join(classify("pebbledb: size", err), db.Close())
}

// runs implements kv.Runs: sorted runs go into Pebble as batches, and a
// compaction at the end puts them in order.
type runs struct {
	kv   *database
	work string
}

// Dir implements kv.Runs.
func (r runs) Dir() string { return r.work }

// Finish implements kv.Runs.
func (r runs) Finish() error {
	if err := r.kv.db.Flush(); err != nil {
		return classify("pebbledb: build", err)
	}
	r.kv.Compact(context.Background())
	return nil
}

// Close implements kv.Runs.
func (r runs) Close() error { return errors.Join(r.kv.Close(), os.RemoveAll(r.work)) }

// Run implements kv.Runs.
func (r runs) Run(f kv.Family) (kv.Run, error) {
	return &run{kv: r.kv, family: f, batch: r.kv.db.NewBatch()}, nil
}

// Batch implements kv.Runs.
func (r runs) Batch(b *kv.Batch) error { return r.kv.Write(b) }

// run collects a batch and is written by one goroutine.
type run struct {
	kv     *database
	family kv.Family
	batch  *pebble.Batch
	key    []byte
}

// batchBytes is the size at which a batch is written.
const batchBytes = 4 << 20

// Add implements kv.Run.
func (r *run) Add(key, value []byte) error {
	r.key = appendKey(r.key[:0], r.family, key)
	if err := r.batch.Set(r.key, value, nil); err != nil {
		return classify("pebbledb: build", err)
	}
	if r.batch.Len() < batchBytes {
		return nil
	}
	err := r.batch.Commit(pebble.NoSync)
	r.batch.Reset()
	return classify("pebbledb: build", err)
}

// Close implements kv.Run.
func (r *run) Close() error {
	return classify("pebbledb: build", errors.Join(r.batch.Commit(pebble.NoSync), r.batch.Close()))
}
