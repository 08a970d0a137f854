package load

import (
	"math/rand/v2"
	"slices"
	"testing"

	"adshard/barrels/index"
	"adshard/schema/pb"
)

// served returns what is served according to a table of two slices, the halves of the ring.
// The first slice has the given generation.
func served(t *testing.T, generation uint64) *index.Served {
	t.Helper()
	table := &pb.SliceTable{View: 1, Slices: []*pb.HeldSlice{
		{Id: 1, Lo: 0, Hi: 1<<63 - 1, Generation: generation, From: 1},
		{Id: 2, Lo: 1 << 63, Hi: ^uint64(0), Generation: 1, From: 1},
	}}
	v, err := index.NewSlices("", table, false).Served("test", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// search counts a search that examines postings of these groups in the order of their keys,
// like those of a block.
func search(l *Counter, v *index.Served, keys []uint64) {
	var s Sampler
	s.Begin(v, 0)
	slices.Sort(keys)
	for _, k := range keys {
		s.examined += SampleShare
		s.list = append(s.list, sample{served: v, key: k, cost: cost{examined: SampleShare}})
	}
	l.Add(&s)
}

// mostlyHigh returns keys in the lower half of the ring, nine in ten of them in the last
// eighth of that half.
func mostlyHigh(r *rand.Rand, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64N(1 << 63)
		if r.IntN(10) > 0 {
			keys[i] = 1<<63 - 1 - r.Uint64N(1<<60)
		}
	}
	return keys
}

// ask counts searches with about 60 samples each.
func ask(l *Counter, v *index.Served, searches int) {
	r := rand.New(rand.NewPCG(1, uint64(searches)))
	for range searches {
		search(l, v, mostlyHigh(r, 60))
	}
}

func splitKey(load *pb.Load, slice uint64) *uint64 {
	for _, s := range load.Slices {
		if s.Slice == slice {
			return s.SplitKey
		}
	}
	return nil
}

// TestSplitKeys: the key that halves a slice's load is reported once it is known, although a
// search's samples come in the order of keys, and is kept from one report to the next. A slice
// without queries has none.
func TestSplitKeys(t *testing.T) {
	l, v := NewCounter(), served(t, 1)
	search(l, v, []uint64{1 << 40})
	if key := splitKey(l.Take(), 1); key != nil {
		t.Fatalf("one sample is enough for the split key %x", *key)
	}
	unsure := 0 // an estimate that happens to be off is not reported: about three in a thousand
	for report := range 5 {
		ask(l, v, 200)
		load := l.Take()
		// Nine tenths of the load begin at 7/8; half of the load is above 7/8 + 4/9 of an eighth.
		key := splitKey(load, 1)
		if key == nil {
			unsure++
		}
		if least, most := uint64(7)<<60+1<<58, uint64(7)<<60+3<<58; unsure > 1 || key != nil && (*key < least || *key > most) {
			t.Fatalf("report %d: split key %v of %v", report, key, load.Slices)
		}
		if key := splitKey(load, 2); key != nil {
			t.Fatalf("a slice without load has the split key %x", *key)
		}
	}
}

// TestSplitKeysOfALargeAdvertiser: if the keys of one advertiser, a tiny part of the slice,
// have 0.6 of its load, steps are too wide to stop among them: no key is reported.
func TestSplitKeysOfALargeAdvertiser(t *testing.T) {
	const lo, hi = uint64(7) << 56, uint64(8)<<56 - 1
	table := &pb.SliceTable{View: 1, Slices: []*pb.HeldSlice{{Id: 1, Lo: lo, Hi: hi, Generation: 1, From: 1}}}
	v, err := index.NewSlices("", table, false).Served("test", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	owner := lo + 1<<55
	for seed := range uint64(10) {
		l, r := NewCounter(), rand.New(rand.NewPCG(1, seed))
		for range 500 {
			keys := make([]uint64, 60)
			for i := range keys {
				keys[i] = lo + r.Uint64N(1<<56)
				if r.IntN(10) < 6 {
					keys[i] = owner + r.Uint64N(1<<32)
				}
			}
			search(l, v, keys)
		}
		if key := splitKey(l.Take(), 1); key != nil && (*key < owner || *key >= owner+1<<32) {
			t.Errorf("seed %d: the split key %x has 0.2 or 0.8 of the load on its left", seed, *key)
		}
	}
}

// TestSplitKeysOfGenerations: a new generation of a slice begins a new estimate, and queries
// of masters with an older view do not disturb it.
func TestSplitKeysOfGenerations(t *testing.T) {
	l, old, new := NewCounter(), served(t, 1), served(t, 2)
	for tries := 0; ; tries++ { // an estimate that happens to be off is not reported
		ask(l, old, 200)
		if splitKey(l.Take(), 1) != nil {
			break
		}
		if tries == 3 {
			t.Fatal("no split key")
		}
	}
	search(l, new, []uint64{5})
	ask(l, old, 200)
	for _, s := range l.Take().Slices {
		if s.SplitKey != nil {
			t.Fatalf("generation %d has the split key %x", s.Generation, *s.SplitKey)
		}
	}
	if e := l.splits[1]; e.generation != 2 {
		t.Fatalf("the estimate is of generation %d", e.generation)
	}
}

// TestSplitKeysAreForgotten: the estimates of slices without further queries end, and without
// reports there are no more estimates than served slices.
func TestSplitKeysAreForgotten(t *testing.T) {
	l := NewCounter()
	ask(l, served(t, 1), 200)
	for range splitReports + 1 {
		l.Take()
	}
	if len(l.splits) != 0 {
		t.Fatalf("%d estimates", len(l.splits))
	}
	for n := range uint64(200) { // no report is taken
		ask(l, served(t, n), 18)
	}
	if len(l.splits) > 2*loadTables || len(l.slices) > loadTables {
		t.Fatalf("%d estimates, %d tables", len(l.splits), len(l.slices))
	}
}
