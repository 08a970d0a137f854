package barreltest

import (
	"context"
	"math"
	"slices"
	"testing"

	"adshard/backend"
	"adshard/barrels"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// loadCounted checks that, if every search is counted, the examined and matching postings count for the slice
// that serves them, for their group and for their term. Groups that are not served, explanations and hedges
// cost nothing. Slices get split keys.
func loadCounted(t *testing.T, open Open) {
	s := open(t, "load")
	defer s.Close()
	s.CountLoad(1)
	w := Small(40, "usb cable", "red shoes")
	d := NewBuilder(t, w).All()
	a, b, c := ringThirds(t, w)
	d.Slices = &pb.SliceTable{View: 3, Slices: []*pb.HeldSlice{
		{Id: 7, Lo: 0, Hi: a, Generation: 4, From: 1, Until: 2},
		{Id: 8, Lo: a + 1, Hi: b, Generation: 5, From: 2},
		{Id: 9, Lo: b + 1, Hi: c, Generation: 6, From: 3},
		{Id: 10, Lo: c + 1, Hi: ^uint64(0), Generation: 7, State: pb.HeldState_HELD_STATE_FILLING},
	}}
	put(t, s, d)
	ask(t, s, query(t, "usb cable"))
	s.TakeLoad()
	const rounds = 300
	want := map[uint64]uint64{} // searches by slice
	for i := range uint64(4 * rounds) {
		view := max(1, i%4)
		r := query(t, "usb cable")
		r.View = view
		ask(t, s, r)
		if _, err := s.Explain(context.Background(), r, 10); err != nil {
			t.Fatal(err)
		}
		r.Hedge = true // the load of another replica counts it
		ask(t, s, r)
		for _, h := range d.Slices.Slices {
			if h.State == 0 && h.From <= view && (h.Until == 0 || view <= h.Until) {
				want[h.Id]++
			}
		}
	}
	load := s.TakeLoad()
	if load.Queries != 4*rounds || load.Number != 0 {
		t.Fatalf("%d queries", load.Queries)
	}
	sum := costsOfSlices(t, load, d.Slices.Slices, w, want)
	oneTopicCosts(t, load, sum, c)
	for _, i := range load.Items {
		if i.Key > c {
			t.Fatalf("item %v", i)
		}
	}
	splitKeysSettle(t, s)
	s.TakeLoad()
	if again := s.TakeLoad(); again.Queries != 0 || len(again.Slices)+len(again.Items)+len(again.Topics)+len(again.Pairs) > 0 {
		t.Fatalf("taken twice: %v", again)
	}
}

// oneTopicCosts checks that a load has one topic, that the topic and its pairs each cost sum, and that no
// pair's key is above `last`.
func oneTopicCosts(t *testing.T, load *pb.Load, sum, last uint64) {
	t.Helper()
	if len(load.Topics) != 1 || !about(load.Topics[0].Cost, sum) {
		t.Fatalf("topics %v, want one with %d", load.Topics, sum)
	}
	paired := uint64(0)
	for _, p := range load.Pairs {
		if paired += p.Cost.Examined + p.Cost.Matched; p.Term != load.Topics[0].Term || p.Key > last {
			t.Fatalf("pair %v of the topics %v", p, load.Topics)
		}
	}
	if half := paired / 2; !about(&pb.Cost{Examined: half, Matched: half, Micros: 1}, sum) {
		t.Fatalf("pairs of %d looks and matches, want twice %d", paired, sum)
	}
}

// splitKeysSettle checks that some slice gets a split key after enough searches.
func splitKeysSettle(t *testing.T, s barrels.Store) {
	t.Helper()
	for range 200 {
		for range 100 {
			ask(t, s, query(t, "usb cable"))
		}
		if slices.ContainsFunc(s.TakeLoad().Slices, func(l *pb.SliceLoad) bool { return l.SplitKey != nil }) {
			return
		}
	}
	t.Fatal("after 20,000 searches no slice has a split key")
}

// costsOfSlices checks that each slice of a table costs what its searches examined, and that slices without
// searches cost nothing. It returns the sum.
func costsOfSlices(t *testing.T, load *pb.Load, table []*pb.HeldSlice, w *oracletest.World, searches map[uint64]uint64) (sum uint64) {
	t.Helper()
	for _, h := range table {
		n := uint64(len(inSlice(t, w.Items, h)))
		i := slices.IndexFunc(load.Slices, func(l *pb.SliceLoad) bool { return l.Slice == h.Id })
		if searches[h.Id] == 0 {
			if i >= 0 {
				t.Fatalf("slice %d is not served: %v", h.Id, load.Slices[i])
			}
			continue
		}
		if i < 0 || load.Slices[i].Generation != h.Generation ||
			!about(load.Slices[i].Cost, n*searches[h.Id]) {
			t.Fatalf("slice %d has %d groups: %v", h.Id, n, load.Slices)
		}
		if key := load.Slices[i].SplitKey; key != nil && (*key < h.Lo || *key > h.Hi) {
			t.Fatalf("slice %d has the split key %x", h.Id, *key)
		}
		sum += n * searches[h.Id]
	}
	return sum
}

// about reports whether a cost is roughly that of n postings, all of which match.
func about(c *pb.Cost, n uint64) bool {
	near := func(x uint64) bool { return math.Abs(float64(x)-float64(n)) < float64(n)/3 } // ±10 % is usual
	return near(c.Examined) && near(c.Matched) && c.Micros > 0
}

// ringThirds returns three keys of groups that divide the groups into four parts.
func ringThirds(t TB, w *oracletest.World) (a, b, c uint64) {
	var keys []uint64
	for _, it := range w.Items {
		keys = append(keys, Key(t, it))
	}
	slices.Sort(keys)
	n := len(keys)
	return keys[n/4], keys[n/2], keys[3*n/4]
}

func inSlice(t TB, items []*backend.Item, h *pb.HeldSlice) (in []uint64) {
	for _, it := range items {
		if k := Key(t, it); h.Lo <= k && k <= h.Hi {
			in = append(in, k)
		}
	}
	return in
}

// loadSampled checks that one search in n is counted and stands for the others, whatever the order of the
// queries, and that none is counted if counting is off. Skipped blocks cost nothing, and an expensive group is
// listed.
func loadSampled(t *testing.T, open Open) {
	s := open(t, "sampled")
	defer s.Close()
	s.CountLoad(8)
	w := Small(900, "usb cable")
	hot := w.Items[450]
	for i := range uint64(100) {
		k := hot.Keywords[0]
		k.ID = 1_000_000 + i
		hot.Keywords = append(hot.Keywords, k)
	}
	put(t, s, NewBuilder(t, w).All())
	const rounds = 400
	asked := func(exact bool) *pb.Load {
		s.TakeLoad()
		var work search.Work
		for range rounds {
			r := query(t, "usb cable")
			r.ExactCounts = exact
			work.Add(ask(t, s, r).Work)
			ask(t, s, query(t, "nothing")) // every other search costs nothing
		}
		load := s.TakeLoad()
		if load.Queries != 2*rounds {
			t.Fatalf("%d queries", load.Queries)
		}
		if len(load.Slices) == 0 {
			return load
		}
		got, want := float64(load.Slices[0].Cost.Examined), float64(work.Examined)
		if len(load.Slices) != 1 || math.Abs(got-want) > want/3 { // ±15 % is usual
			t.Fatalf("examined %v, counted %v", want, load.Slices)
		}
		return load
	}
	load := asked(true)
	if len(load.Items) == 0 || load.Items[0].Key != Key(t, hot) || len(load.Items) > 200 {
		t.Fatalf("the hot item %x is not the first of %d", Key(t, hot), len(load.Items))
	}
	if load.Slices[0].Cost.Micros == 0 || load.Slices[0].Cost.Matched == 0 {
		t.Fatalf("%v", load.Slices[0])
	}
	if some := asked(false); some.Slices[0].Cost.Examined >= load.Slices[0].Cost.Examined {
		t.Fatalf("what is skipped costs as well: %v, %v", some.Slices, load.Slices)
	}
	s.CountLoad(0)
	if off := asked(true); len(off.Slices)+len(off.Items)+len(off.Topics)+len(off.Pairs) > 0 {
		t.Fatalf("switched off: %v", off)
	}
}
