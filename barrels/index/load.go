package index

import (
	"encoding/binary"
	"math"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// Load reads the first state of an opened store.
func Load(s kv.Snapshot, number uint64, name string) (*Snapshot, error) {
	st, table := &Snapshot{Number: number, Data: Share(s), Position: new(pb.Position)}, new(pb.SliceTable)
	if err := readMessage(s, kv.MetaPosition, st.Position); err != nil {
		return nil, err
	}
	if err := readMessage(s, kv.MetaSlices, table); err != nil {
		return nil, err
	}
	if err := CheckSlices(table); err != nil {
		return nil, kv.Damaged("slice table", err)
	}
	_, orphans, err := s.Get(kv.Meta, kv.MetaOrphans, nil)
	if err != nil {
		return nil, err
	}
	st.Slices = NewSlices(name, number, table, orphans)
	raw, ok, err := s.Get(kv.Meta, kv.MetaCounters, nil)
	if err != nil {
		return nil, err
	}
	if ok {
		if st.Counters, ok = parseCounters(raw); !ok {
			return nil, kv.Damaged("counters", kv.ErrWrongSize)
		}
	}
	if err := readRepair(s, st); err != nil {
		return nil, err
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

// readRepair reads who built the data and what is still to be purged.
func readRepair(s kv.Snapshot, st *Snapshot) error {
	raw, ok, err := s.Get(kv.Meta, kv.MetaBuilder, nil)
	if err != nil {
		return err
	}
	switch {
	case st.Counters == (Counters{}) && !ok:
		st.Builder = AnyBuilder
	case !ok: // written before data said it
		st.Builder = FirstBuilder
	default:
		if len(raw) != 4 {
			return kv.Damaged("builder", kv.ErrWrongSize)
		}
		st.Builder = binary.LittleEndian.Uint32(raw)
	}
	if raw, _, err = s.Get(kv.Meta, kv.MetaPurge, nil); err != nil {
		return err
	}
	if st.Purge, ok = parseIntervals(raw); !ok {
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

// Versions of what built the data of a store (pb.NodeData.Builder).
const (
	// MixedBuilders: they are of several versions.
	MixedBuilders = 0
	// FirstBuilder is that of data which name none.
	FirstBuilder = 1
	// AnyBuilder: there are no data yet.
	AnyBuilder = math.MaxUint32
)
