package barrels_test

import (
	"bytes"
	"context"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/schema/fb"
	"adshard/schema/pb"
	"adshard/search"
)

// kept returns an ordered map that contains a world of 30 groups.
func kept(t *testing.T) kv.DB {
	t.Helper()
	return keptOf(t, 30)
}

func keptOf(t *testing.T, groups int) kv.DB {
	t.Helper()
	kv := memory.NewDB()
	s := open(t, kv)
	defer s.Close()
	d := barreltest.NewBuilder(t, barreltest.Small(groups, "usb cable", "red shoes")).All()
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	return kv
}

func open(t *testing.T, kv kv.DB) barrels.Store {
	t.Helper()
	s, err := barrels.Open(kv, barrels.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spoil changes each value of a family.
func spoil(t *testing.T, db kv.DB, f kv.Family, change func(key, value []byte) []byte) {
	t.Helper()
	var b kv.Batch
	s := db.Snapshot()
	it := s.Full(f)
	for ok := it.Seek(nil); ok; ok = it.Next() {
		if v := change(it.Key(), bytes.Clone(it.Value())); v == nil {
			b.Delete(f, it.Key())
		} else {
			b.Put(f, it.Key(), v)
		}
	}
	it.Close()
	s.Close()
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedData: a search leaves out what is damaged, counts it and says that
// the answer is incomplete; the rest is served. Writes to damaged data are
// refused.
func TestDamagedData(t *testing.T) {
	flip := func(_, v []byte) []byte { v[len(v)/2] ^= 1; return v }
	records := func(change func([]byte) []byte) func(key, value []byte) []byte {
		return func(key, value []byte) []byte {
			if bytes.HasSuffix(key, make([]byte, 8)) {
				return change(value)
			}
			return value
		}
	}
	for name, c := range map[string]struct {
		family kv.Family
		change func(key, value []byte) []byte
		hits   int
	}{
		"blocks with a wrong byte": {kv.Postings, flip, 0},
		"blocks cut":               {kv.Postings, func(_, v []byte) []byte { return v[:len(v)/2] }, 0},
		"blocks empty":             {kv.Postings, func(_, _ []byte) []byte { return []byte{} }, 0},
		"blocks of wrong indexes":  {kv.Postings, wrongIndexes, 0},
		"items with a wrong byte":  {kv.Items, flip, 0},
		"groups missing":           {kv.Items, records(func([]byte) []byte { return nil }), 0},
		"groups cut":               {kv.Items, records(func(v []byte) []byte { return v[:len(v)-1] }), 0},
	} {
		t.Run(name, func(t *testing.T) {
			items := c.family == kv.Items
			kv := kept(t)
			spoil(t, kv, c.family, c.change)
			s := open(t, kv)
			defer s.Close()
			q, err := search.Expand("usb cable", search.Synonym, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4}
			a, err := s.Search(context.Background(), r)
			if err != nil || len(a.Hits) != c.hits || a.Width == search.WholeRing() || a.Work.BlocksBad == 0 || s.Stats().BadBlocks == 0 {
				t.Fatalf("%+v, %v", a, err)
			}
			e, err := s.Explain(context.Background(), r, 10)
			if err != nil || e.Width == search.WholeRing() {
				t.Fatalf("%+v, %v", e, err)
			}
			if items {
				r.Wanted.Keyword = 1
				if e, err := s.Explain(context.Background(), r, 10); err != nil || e.Width == search.WholeRing() {
					t.Fatalf("by name: %+v, %v", e, err)
				}
			}
			d := barreltest.Bulky(barreltest.NewBuilder(t, barreltest.Small(30, "usb cable", "red shoes")).All(), 2)
			if err := s.Apply(context.Background(), d); name != "groups missing" && !fault.Is(err, fault.Corrupt) {
				t.Fatalf("apply: %v", err)
			}
		})
	}
}

// wrongIndexes makes postings point outside their block, with a right checksum.
func wrongIndexes(_, value []byte) []byte {
	b := value[:len(value)-9]
	root := fb.GetRootAsBlock(b, 0)
	for i := range root.PostingsLength() {
		var p fb.Posting
		root.Postings(&p, i)
		p.MutateGroup(0xfe)
		p.MutateFirst(0xfefe)
	}
	return block.Seal(b)
}

// TestOneDamagedBlock: only the slices that the block may affect are missing,
// every time that a search meets it, and only then.
func TestOneDamagedBlock(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	w := barreltest.Small(400, "cable", "shoes")
	d := barreltest.NewBuilder(t, w).All()
	d.Slices = &pb.SliceTable{View: 1}
	const parts = 16
	for i := range uint64(parts) {
		d.Slices.Slices = append(d.Slices.Slices, &pb.HeldSlice{Id: i + 1, Lo: i << 60, Hi: i<<60 | (1<<60 - 1), From: 1})
	}
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	blocks := s.Stats().Blocks
	if err := s.Close(); err != nil || blocks < 6 {
		t.Fatal(blocks, err)
	}
	term, n := []byte(nil), 0
	spoil(t, db, kv.Postings, func(key, v []byte) []byte {
		if term == nil {
			term = bytes.Clone(key[:8])
		}
		if n++; n == 2 && bytes.HasPrefix(key, term) {
			v[100] ^= 1
		}
		return v
	})
	s = open(t, db)
	defer s.Close()
	const times = 3 // first from the store; then whole blocks come from memory
	harmed := 0
	for _, text := range []string{"cable", "shoes"} {
		q, err := search.Expand(text, search.Synonym, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range times {
			a, err := s.Search(context.Background(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, ExactCounts: true})
			switch {
			case err != nil:
				t.Fatal(err)
			case a.Width == search.WholeRing():
				if a.Work.BlocksBad != 0 || a.Matched != 400 {
					t.Fatalf("%s: %+v", text, a)
				}
			case a.Work.BlocksBad != 1 || a.Matched < 200 || a.Matched >= 400 || a.Width.Lo < 4<<60:
				t.Fatalf("%s: %+v", text, a)
			default:
				harmed++
			}
		}
	}
	if harmed != times || s.Stats().BadBlocks != times {
		t.Errorf("%d of %d answers are incomplete, %d bad blocks are counted", harmed, 2*times, s.Stats().BadBlocks)
	}
}

// TestVersions: another format, other words and damaged meta data are refused
// with a text that says what to do.
func TestVersions(t *testing.T) {
	meta := func(name string, change func([]byte) []byte) func(key, value []byte) []byte {
		return func(key, value []byte) []byte {
			if string(key) == name {
				return change(value)
			}
			return value
		}
	}
	set := func(v ...byte) func([]byte) []byte { return func([]byte) []byte { return v } }
	for name, c := range map[string]struct {
		family kv.Family
		change func(key, value []byte) []byte
		kind   fault.Kind
	}{
		"newer format":   {kv.Meta, meta("format", set(99, 0, 0, 0)), fault.Version},
		"older format":   {kv.Meta, meta("format", set(index.FormatVersion-1, 0, 0, 0)), fault.Version},
		"other words":    {kv.Meta, meta("words", set('x')), fault.Version},
		"format cut":     {kv.Meta, meta("format", set(1)), fault.Corrupt},
		"no format":      {kv.Meta, meta("format", func([]byte) []byte { return nil }), fault.Corrupt},
		"position":       {kv.Meta, meta("position", set(0xff)), fault.Corrupt},
		"slices":         {kv.Meta, meta("slices", set(0xff)), fault.Corrupt},
		"counters":       {kv.Meta, meta("counters", set(1, 2, 3)), fault.Corrupt},
		"terms":          {kv.Terms, func(_, v []byte) []byte { return v[:5] }, fault.Corrupt},
		"parents":        {kv.Parents, func(_, _ []byte) []byte { return []byte{0xff} }, fault.Corrupt},
		"unknown parent": {kv.Parents, func(key, v []byte) []byte { return v }, fault.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			db := kept(t)
			spoil(t, db, c.family, c.change)
			if name == "unknown parent" {
				var b kv.Batch
				b.Put(kv.Parents, []byte("x"), nil)
				if err := db.Write(&b); err != nil {
					t.Fatal(err)
				}
			}
			_, err := barrels.Open(db, barrels.Options{CacheBytes: 1 << 20})
			if !fault.Is(err, c.kind) || !bytes.Contains([]byte(err.Error()), []byte("empty its directory")) {
				t.Fatalf("%v", err)
			}
		})
	}
}
