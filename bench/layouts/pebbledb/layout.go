package pebbledb

import (
	"context"
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"adshard/barrels"
	"adshard/barrels/bulk"
	"adshard/barrels/kv"
	"adshard/bench/layouts"
	"adshard/bench/layouts/served"
	"adshard/fault"
	"adshard/schema/pb"
)

// Layout returns the layout "PebbleDB".
func Layout() layouts.Layout { return served.On("PebbleDB", engine{}) }

// engine is served.Engine on Pebble.
type engine struct{}

// Builder implements served.Engine.
func (engine) Builder(dir string) (served.Builder, error) {
	work := dir + ".building"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fault.New(fault.Internal, "pebbledb: build", err)
	}
	kv, err := openKV(dir, buildCache)
	if err != nil {
		return nil, err
	}
	bulk, err := bulk.New(work, runs{kv})
	if err != nil {
		return nil, errors.Join(err, kv.Close())
	}
	return &builder{bulk, kv, work}, nil
}

// buildCache is the cache while a store is built: nothing is read then.
const buildCache = 8 << 20

// Open implements served.Engine: half of the memory is for Pebble's blocks, half
// for what searches make of them, as barrels/rocks has it.
func (engine) Open(dir string, cacheBytes uint64) (barrels.Store, error) {
	kv, err := openKV(dir, cacheBytes/2)
	if err != nil {
		return nil, err
	}
	s, err := barrels.Open(kv, barrels.Options{CacheBytes: cacheBytes / 2})
	if err != nil {
		return nil, errors.Join(err, kv.Close())
	}
	return s, nil
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

// builder is the product's offline build; its sorted runs go into Pebble as
// batches, and one compaction puts them in order.
type builder struct {
	*bulk.Builder
	kv   *database
	work string
}

// Finish implements served.Builder.
func (b *builder) Finish(position *pb.Position, slices *pb.SliceTable) error {
	if err := b.Builder.Finish(position, slices); err != nil {
		return err
	}
	if err := b.kv.db.Flush(); err != nil {
		return classify("pebbledb: build", err)
	}
	b.kv.Compact(context.Background())
	return nil
}

// Close implements served.Builder.
func (b *builder) Close() error {
	return errors.Join(b.Builder.Close(), b.kv.Close(), os.RemoveAll(b.work))
}

// runs is kv.Runs: what is written is sorted by Pebble again.
type runs struct{ kv *database }

// Run implements kv.Runs.
func (r runs) Run(f kv.Family) (kv.Run, error) {
	return &run{kv: r.kv, family: f, batch: r.kv.db.NewBatch()}, nil
}

// Batch implements kv.Runs.
func (r runs) Batch(b *kv.Batch) error { return r.kv.Write(b) }

// run collects a batch; one goroutine writes it.
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
