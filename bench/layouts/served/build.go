package served

import (
	"context"
	"errors"
	"math"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/bulk"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// build builds the whole store in dir.
func build(ctx context.Context, e Engine, m *items, dir string, progress func(float64)) (err error) {
	runs, err := e.Runs(dir)
	if err != nil {
		return err
	}
	b, err := bulk.New(runs, words.Default)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.AddParents(m.parents()); err != nil {
		return err
	}
	for g := range m.set.Groups {
		if g&0xFFF == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(0.5 * float64(g) / float64(len(m.set.Groups)))
			}
		}
		it, err := m.item(g)
		if err != nil {
			return err
		}
		if err := b.Add(it); err != nil {
			return err
		}
	}
	return b.Finish(&pb.Position{Clock: 1}, whole())
}

// whole returns a table with one slice, which is the whole ring.
func whole() *pb.SliceTable {
	return &pb.SliceTable{
		Slices: []*pb.HeldSlice{{Id: 1, Hi: math.MaxUint64, Generation: 1, State: pb.HeldState_HELD_STATE_FULL, From: 1}},
		View:   1,
	}
}

// matchingBytes returns the size on disk of a store's postings and terms,
// which a search reads to decide on matches.
func matchingBytes(dir string) (uint64, error) {
	sum := uint64(0)
	err := liveFiles(dir, func(f grocksdb.LiveFileMetadata) {
		switch f.ColumnFamilyName {
		case kv.Postings.String(), kv.Terms.String():
			sum += uint64(f.Size)
		}
	})
	return sum, err
}

// liveFiles calls `each` for the table files of a closed store.
func liveFiles(dir string, each func(grocksdb.LiveFileMetadata)) error {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	names, err := grocksdb.ListColumnFamilies(o, dir)
	if err != nil {
		return fault.New(fault.Internal, "served: size", err)
	}
	options := make([]*grocksdb.Options, len(names))
	for i := range options {
		options[i] = o
	}
	db, handles, err := grocksdb.OpenDbForReadOnlyColumnFamilies(o, dir, names, options, false)
	if err != nil {
		return fault.New(fault.Internal, "served: size", err)
	}
	defer db.Close()
	for _, f := range db.GetLiveFilesMetaData() {
		each(f)
	}
	for _, h := range handles {
		h.Destroy()
	}
	return nil
}
