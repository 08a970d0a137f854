package index

import (
	"encoding/binary"
	"math"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// Head is a store's metadata.
type Head struct {
	Position *pb.Position
	Slices   *pb.SliceTable
	// Orphans means that there may be groups with keys that the table does not cover.
	Orphans  bool
	Counters Counters
	Builder  uint32     // version of the code that built all data, or MixedBuilders if several versions did
	Purge    []Interval // intervals that were discarded and are not empty yet
}

// ReadHead reads the head of a store.
func ReadHead(s kv.Snapshot) (*Head, error) {
	h := &Head{Position: new(pb.Position), Slices: new(pb.SliceTable)}
	if err := readMessage(s, kv.MetaPosition, h.Position); err != nil {
		return nil, err
	}
	if err := readMessage(s, kv.MetaSlices, h.Slices); err != nil {
		return nil, err
	}
	if err := CheckSlices(h.Slices); err != nil {
		return nil, kv.Damaged("slice table", err)
	}
	var err error
	if _, h.Orphans, err = s.Get(kv.Meta, kv.MetaOrphans, nil); err != nil {
		return nil, err
	}
	raw, ok, err := s.Get(kv.Meta, kv.MetaCounters, nil)
	if err != nil {
		return nil, err
	}
	if ok {
		if h.Counters, ok = parseCounters(raw); !ok {
			return nil, kv.Damaged("counters", kv.ErrWrongSize)
		}
	}
	return h, readRepair(s, h)
}

// Load reads the first state of an opened store.
func Load(s kv.Snapshot, number uint64, name string) (*Snapshot, error) {
	h, err := ReadHead(s)
	if err != nil {
		return nil, err
	}
	st := &Snapshot{
		Number: number, Data: Share(s), Position: h.Position, Slices: NewSlices(name, h.Slices, h.Orphans),
		Counters: h.Counters, Builder: h.Builder, Purge: h.Purge,
	}
	var g errgroup.Group
	g.Go(func() (err error) {
		st.Parents, err = loadParents(s)
		return err
	})
	g.Go(func() (err error) {
		st.Terms, err = loadTerms(s, int(st.Counters.Terms))
		return err
	})
	return st, g.Wait()
}

// readRepair reads the version of the code that built the data, and the intervals that must still
// be purged.
func readRepair(s kv.Snapshot, h *Head) error {
	raw, ok, err := s.Get(kv.Meta, kv.MetaBuilder, nil)
	if err != nil {
		return err
	}
	switch {
	case h.Counters == (Counters{}) && !ok:
		h.Builder = AnyBuilder
	case !ok: // written before data named their version
		h.Builder = FirstBuilder
	default:
		if len(raw) != 4 {
			return kv.Damaged("builder", kv.ErrWrongSize)
		}
		h.Builder = binary.LittleEndian.Uint32(raw)
	}
	if raw, _, err = s.Get(kv.Meta, kv.MetaPurge, nil); err != nil {
		return err
	}
	if h.Purge, ok = parseIntervals(raw); !ok {
		return kv.Damaged("purge", kv.ErrWrongSize)
	}
	return nil
}

func readMessage(s kv.Snapshot, key []byte, m proto.Message) error {
	raw, _, err := s.Get(kv.Meta, key, nil)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(raw, m); err != nil {
		return kv.Damaged(string(key), err)
	}
	return nil
}

func loadTerms(s kv.Snapshot, expected int) (*Dictionary, error) {
	t := NewDictionary(max(0, min(expected, 1<<28)))
	it := s.Full(kv.Terms)
	defer it.Close()
	for ok := it.Seek(nil); ok; ok = it.Next() {
		c, good := parseTermCount(it.Value())
		if !good || len(it.Key()) != 8 {
			return nil, kv.Damaged("term", kv.ErrWrongSize)
		}
		t = t.Set(kv.KeyPart(it.Key(), 0), c)
	}
	return t, it.Err()
}

// Versions of the code that built a store's data (pb.NodeData.Builder).
const (
	// MixedBuilders means that several versions built the data.
	MixedBuilders = 0
	// FirstBuilder is the version of data that name no version.
	FirstBuilder = 1
	// AnyBuilder means that there are no data yet.
	AnyBuilder = math.MaxUint32
)
