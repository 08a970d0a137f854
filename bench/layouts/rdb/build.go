package rdb

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/linxGnu/grocksdb"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/search/words"
)

// database is the directory of a database and RocksDB's options for it, as
// text.
type database struct{ dir, options string }

// builder writes the databases of a layout.
type builder struct {
	encoder
	progress func(done float64)
	done     int // pairs written
	all      int
}

func newBuilder(set *layouts.Set, databases int, progress func(float64)) *builder {
	b := &builder{encoder: encoder{set: set, hashes: make([]uint64, len(set.Words)), flat: flatbuffers.NewBuilder(256)}}
	for i, w := range set.Words {
		b.hashes[i] = words.Hash(w)
	}
	b.progress, b.all = progress, databases*set.Len()
	return b
}

// matchingData writes the first database: keywords by first word and id.
func (b *builder) matchingData(ctx context.Context, d database, c codec) error {
	type place struct {
		first uint64
		i     uint32
	}
	order := make([]place, b.set.Len())
	for i := range order {
		order[i] = place{b.hashes[b.set.Of(i)[0]], uint32(i)}
	}
	slices.SortFunc(order, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.i, y.i))
	})
	var key []byte
	return b.write(ctx, d, len(order), func(n int) ([]byte, []byte, error) {
		at := order[n]
		key = matchingKey(key[:0], at.first, b.set.ID(int(at.i)))
		value, err := b.matching(c, int(at.i))
		return key, value, err
	})
}

// records writes the second database: keywords by id.
func (b *builder) records(ctx context.Context, d database) error {
	var key []byte
	return b.write(ctx, d, b.set.Len(), func(i int) ([]byte, []byte, error) {
		key = recordKey(key[:0], b.set.ID(i))
		value, err := b.record(i)
		return key, value, err
	})
}

// write makes a database of n pairs that come by rising key. They go into one
// file without overlaps, as after a compaction, up to maxFile.
func (b *builder) write(ctx context.Context, d database, n int, pair func(i int) (key, value []byte, err error)) error {
	if err := over(ctx, "rdb: build"); err != nil {
		return err
	}
	defaults := grocksdb.NewDefaultOptions()
	defer defaults.Destroy()
	o, err := grocksdb.GetOptionsFromString(defaults, d.options+";"+loading.String())
	if err != nil {
		return fault.New(fault.Internal, "rdb: build", err)
	}
	defer o.Destroy()
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return unwritable(err)
	}
	db, err := grocksdb.OpenDb(o, d.dir)
	if err != nil {
		return unwritable(err)
	}
	defer db.Close()
	l := newLoader(db)
	defer l.destroy()
	for i := range n {
		key, value, err := pair(i)
		if err == nil {
			err = l.put(key, value)
		}
		if err == nil {
			err = b.wrote(ctx)
		}
		if err != nil {
			return err
		}
	}
	return l.finish()
}

// tell is the number of pairs after which progress is reported.
const tell = 1 << 14

// wrote counts a pair.
func (b *builder) wrote(ctx context.Context) error {
	if b.done++; b.done%tell != 0 {
		return nil
	}
	if b.progress != nil {
		b.progress(float64(b.done) / float64(b.all))
	}
	return over(ctx, "rdb: build")
}

func unwritable(err error) error {
	return fault.Newf(fault.Internal, "rdb: build", "%w; give a directory that can be written to, with room", err)
}

// sizeOf returns the sum of the sizes of a database's files.
func sizeOf(dir string) (sum uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += uint64(info.Size())
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, unwritable(err)
	}
	return sum, nil
}
