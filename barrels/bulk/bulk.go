package bulk

import (
	"errors"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Builder writes a whole store at once, with the same bytes as a store that applied the same items:
// document frequencies first, then anchors, pages and full blocks, sorted, each written once. Items
// may come in any order and from any number of goroutines. Memory holds the terms and 24 bytes per
// group; the rest waits in temporary files.
type Builder struct {
	runs kv.Runs
	// builder is the version of the code that built the items (SetBuilder).
	builder   uint32
	languages words.Languages

	mu       sync.Mutex // guards the fields below
	spill    *spill
	groups   []spilled
	terms    *index.Dictionary
	counters index.Counters
	bytes    int64 // total size of the entries, to plan the partitions
	parents  kv.Batch

	counting sync.Mutex // guards terms and counters while Finish writes blocks
}

// New begins a store that is written to runs, of items with words of some languages. It takes over
// runs: Close closes them, and so does New if it fails.
func New(runs kv.Runs, languages words.Languages) (*Builder, error) {
	s, err := newSpill(filepath.Join(runs.Dir(), "items.tmp"))
	if err != nil {
		return nil, errors.Join(err, runs.Close())
	}
	return &Builder{runs: runs, languages: languages, spill: s, terms: index.NewDictionary(0)}, nil
}

// SetBuilder sets the version of the code that built the items and parents added from now on
// (pb.NodeData.Builder). The default is the first version.
func (b *Builder) SetBuilder(version uint32) { b.builder = version }

// AddParents adds campaigns and advertisers. Each must be added only once.
func (b *Builder) AddParents(advertisers []*pb.Advertiser, campaigns []*pb.Campaign) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	put := func(kind byte, id uint64, m proto.Message) error {
		raw, err := record.Marshal.Marshal(m)
		if err != nil {
			return fault.New(fault.Invalid, "barrels: build", err)
		}
		b.parents.Put(kv.Parents, kv.AppendParentKey(nil, kind, id), raw)
		return nil
	}
	for _, a := range advertisers {
		if err := errors.Join(record.CheckAdvertiser(a), put(kv.AdvertiserKind, a.GetId(), a)); err != nil {
			return err
		}
	}
	for _, c := range campaigns {
		if err := errors.Join(record.CheckCampaign(c), put(kv.CampaignKind, c.GetId(), c)); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a group with its keywords. It does not keep the item. It returns fault.Invalid if the
// item is invalid.
func (b *Builder) Add(it *pb.Item) error {
	if err := record.CheckItem(it); err != nil {
		return err
	}
	scratch := spillBuffers.Get().(*[]byte)
	defer spillBuffers.Put(scratch)
	raw, err := appendItem((*scratch)[:0], it)
	if err != nil {
		return err
	}
	*scratch = raw
	b.mu.Lock()
	defer b.mu.Unlock()
	at, err := b.spill.append(raw)
	if err != nil {
		return err
	}
	b.groups = append(b.groups, spilled{key: it.Group.Key, at: at, size: len(raw)})
	b.counters.Groups++
	b.counters.Keywords += int64(len(it.Keywords))
	for _, k := range it.Keywords {
		b.bytes += int64(len(k.Forms) * (entryHead + entryWord*len(k.Norm)))
		b.count(k)
	}
	return nil
}

func (b *Builder) count(k *pb.Keyword) {
	for _, f := range k.Forms {
		for i, t := range f.Terms {
			if !slices.Contains(f.Terms[:i], t) {
				c := b.terms.Stats(t)
				c.Frequency++
				b.terms = b.terms.Set(t, c)
			}
		}
	}
}

// Finish writes the store and makes it ready to be opened. The store holds all changes up to
// position and serves table. Finish uses all processors.
func (b *Builder) Finish(position *pb.Position, table *pb.SliceTable) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.write(position, table); err != nil {
		return err
	}
	return b.runs.Finish()
}

func (b *Builder) write(position *pb.Position, table *pb.SliceTable) error {
	if err := index.CheckSlices(table); err != nil {
		return err
	}
	if err := b.spill.flush(); err != nil {
		return err
	}
	workers := max(1, runtime.GOMAXPROCS(0))
	p, err := newPartitions(b.runs.Dir(), partitionBits(b.bytes, workers))
	if err != nil {
		return err
	}
	defer p.remove()
	if err := b.writeItems(p, workers); err != nil {
		return err
	}
	if err := b.writeBlocks(p, workers); err != nil {
		return err
	}
	if err := b.writeTerms(); err != nil {
		return err
	}
	return b.writeRest(position, table)
}

// partitionBytes is about how much a worker holds in memory at a time.
const partitionBytes = 64 << 20

// partitionBits returns the base-2 logarithm of the number of partitions.
func partitionBits(size int64, workers int) int {
	n := max(uint64(size)/partitionBytes, uint64(workers-1))
	return min(10, bits.Len64(n))
}

// writeRest writes parents and metadata.
func (b *Builder) writeRest(position *pb.Position, table *pb.SliceTable) error {
	named := index.Joined(table.GetSlices(), nil)
	orphans := slices.ContainsFunc(b.groups, func(g spilled) bool { return !index.Within(named, g.key) })
	batch := &b.parents
	index.PutVersions(batch, b.languages)
	if position == nil {
		position = new(pb.Position)
	}
	if table == nil {
		table = new(pb.SliceTable)
	}
	index.PutMessage(batch, kv.MetaPosition, position)
	index.PutMessage(batch, kv.MetaSlices, table)
	if orphans {
		batch.Put(kv.Meta, kv.MetaOrphans, nil)
	}
	batch.PutFunc(kv.Meta, kv.MetaCounters, b.counters.Append)
	index.PutBuilder(batch, index.MixBuilders(index.AnyBuilder, b.builder))
	return b.runs.Batch(batch)
}

// Close removes the temporary files, and everything else unless Finish succeeded. It must always be
// called.
func (b *Builder) Close() error {
	return errors.Join(b.spill.file.Close(), b.runs.Close())
}
