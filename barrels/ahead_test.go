package barrels_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// largeGroup is the number of keywords of the first of two groups: too many for its content to
// fit into one batch.
const largeGroup = 40_000

func largeWorld(bid uint64) *oracletest.World {
	w := barreltest.Small(2, "red shoes")
	it := w.Items[0]
	it.Keywords = nil
	for i := range largeGroup {
		text := fmt.Sprintf("usb n%d", i)
		it.Keywords = append(it.Keywords, backend.Keyword{ID: uint64(100 + i), GroupID: it.Group.ID, Text: text, Words: text,
			Type: search.Broad, KeywordSettings: backend.KeywordSettings{Enabled: true, Bid: bid, HasBid: true, Quality: 5}})
	}
	return w
}

// inParts takes the keywords out of the first item and returns them in parts; it calls `called`
// before each part.
func inParts(d *pb.NodeData, called func(part uint32)) (*pb.NodeData, barrels.Parts) {
	const parts = 10
	d = proto.CloneOf(d)
	list := d.Items[0].Keywords
	d.Items[0].Keywords, d.Items[0].Parts = nil, parts
	return d, func(_ *pb.Item, part uint32) ([]*pb.Keyword, error) {
		if called != nil {
			called(part)
		}
		n := uint32(len(list)) / parts
		return list[part*n : (part+1)*n], nil
	}
}

// large returns a store with a large group, and a bucket that changes all of its keywords.
func large(t *testing.T) (s barrels.Store, g *gauge, whole, change *pb.NodeData) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	whole = barreltest.NewBuilder(t, largeWorld(1_000_000)).All()
	change = barreltest.NewBuilder(t, largeWorld(2_000_000)).All()
	change.From, change.To, change.Slices = whole.To, barreltest.At(whole.To.Clock+1), nil
	change.Reset_ = false
	g = &gauge{DB: memory.NewDB()}
	s = open(t, g)
	first := proto.CloneOf(whole)
	first.Items, first.To = nil, barreltest.At(whole.To.Clock-1)
	for _, h := range first.Slices.Slices { // nothing is claimed yet
		h.From, h.State = 0, pb.HeldState_HELD_STATE_FILLING
	}
	if err := s.Apply(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	fill := proto.CloneOf(whole)
	fill.From, fill.Reset_ = first.To, false
	fill, parts := inParts(fill, nil)
	if err := s.ApplyParts(context.Background(), fill, parts); err != nil {
		t.Fatal(err)
	}
	return s, g, whole, change
}

// bidOf returns the bid of the winner of a search that only the large group matches.
func bidOf(t *testing.T, s search.Searcher) uint64 {
	t.Helper()
	a, err := s.Search(t.Context(), barreltest.Request(t, oracle.Request{Text: "usb n17", Profile: search.DefaultProfile(), Slots: 1, Variants: search.Synonym, Reserve: 10_000}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Hits) == 0 {
		return 0
	}
	return a.Hits[0].Score / a.Hits[0].Quality
}

// certifiedAs fails the test unless the store's certificate is that of these data.
func certifiedAs(t *testing.T, s barrels.Store, d *pb.NodeData) {
	t.Helper()
	c, err := s.Certify(t.Context(), 0, ^uint64(0), ^uint64(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := barreltest.Certified(t, d.Items, d, ^uint64(0)); !barreltest.Equal(c, &want) {
		t.Errorf("certificate\n got %+v\nwant %+v", c, want)
	}
}

// TestALargeGroupIsWrittenInBatches: no batch is larger than that of a large bucket, and
// searches see the new group and the position at once. The result is compared with that of a
// single batch.
func TestALargeGroupIsWrittenInBatches(t *testing.T) {
	s, g, _, change := large(t)
	defer s.Close()
	if g.largest > 16<<20 {
		t.Errorf("a batch of %d bytes", g.largest)
	}
	g.writes, g.largest = 0, 0
	change, parts := inParts(change, func(uint32) {
		if bid := bidOf(t, s); bid != 1_000_000 {
			t.Fatalf("a bid of %d is seen before the bucket is complete", bid)
		}
	})
	if err := s.ApplyParts(context.Background(), change, parts); err != nil {
		t.Fatal(err)
	}
	if bid := bidOf(t, s); bid != 2_000_000 {
		t.Errorf("a bid of %d afterwards", bid)
	}
	if g.writes < 2 || g.largest > 16<<20 {
		t.Errorf("%d batches, the largest of %d bytes", g.writes, g.largest)
	}
	t.Logf("%d batches, the largest of %d bytes", g.writes, g.largest)
	certifiedAs(t, s, barreltest.NewBuilder(t, largeWorld(2_000_000)).All())

	// A change of one keyword takes one batch, the removal of the group several.
	g.writes = 0
	one := barreltest.NewBuilder(t, largeWorld(2_000_000)).All()
	one.Items[0].Keywords[17].Bid = proto.Uint64(3_000_000)
	one.From, one.To, one.Slices, one.Reset_ = change.To, barreltest.At(change.To.Clock+1), nil, false
	one, parts = inParts(one, nil)
	if err := s.ApplyParts(context.Background(), one, parts); err != nil {
		t.Fatal(err)
	}
	if bid := bidOf(t, s); bid != 3_000_000 || g.writes != 1 {
		t.Errorf("a bid of %d, %d batches", bid, g.writes)
	}
	g.writes, g.largest = 0, 0
	gone := &pb.NodeData{From: one.To, To: barreltest.At(one.To.Clock + 1), Deleted: []uint64{one.Items[0].Group.Key}}
	if err := s.Apply(context.Background(), gone); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Groups != 1 || st.Postings != 1 || g.writes < 2 || g.largest > 16<<20 {
		t.Errorf("%+v after %d batches, the largest of %d bytes", st, g.writes, g.largest)
	}
}

// TestALargeGroupThatIsNotWrittenWhole: whichever batch fails, the slice is given up and
// reported, and is as before after it was purged and filled again; the position is never ahead
// of the data. A fill goes on where it was.
func TestALargeGroupThatIsNotWrittenWhole(t *testing.T) {
	for fail := 1; ; fail++ {
		s, g, whole, change := large(t)
		var damage []barrels.Damage
		s.OnDamage(func(d barrels.Damage) { damage = append(damage, d) })
		g.writes, g.fail = 0, fail
		change, parts := inParts(change, nil)
		err := s.ApplyParts(context.Background(), change, parts)
		if err == nil {
			if fail < 3 {
				t.Errorf("%d batches", fail-1)
			}
			closed(t, s)
			return
		}
		if s.Position().Clock != whole.To.Clock {
			t.Fatalf("batch %d failed: at %v", fail, s.Position())
		}
		if fail == 1 { // nothing was written
			if bidOf(t, s) != 1_000_000 || len(damage) > 0 {
				t.Errorf("a bid of %d, damage %v", bidOf(t, s), damage)
			}
			closed(t, s)
			continue
		}
		if len(damage) != 1 || damage[0].Lo != change.Items[0].Group.Key || !s.Purging() {
			t.Fatalf("batch %d failed: damage %v, purging %v", fail, damage, s.Purging())
		}
		if bid := bidOf(t, s); bid != 0 {
			t.Errorf("a bid of %d of a slice that was given up", bid)
		}
		if err := s.Discard(context.Background(), nil); err != nil || s.Purging() {
			t.Fatal(err)
		}
		again := Refill(s, whole)
		again, parts = inParts(again, nil)
		if err := s.ApplyParts(context.Background(), again, parts); err != nil {
			t.Fatal(err)
		}
		certifiedAs(t, s, whole)
		closed(t, s)
	}
}

// TestPartsAreChecked: parts that a store must refuse change nothing.
func TestPartsAreChecked(t *testing.T) {
	s, g, _, change := large(t)
	defer s.Close()
	g.writes = 0
	d, parts := inParts(change, nil)
	wrong := func(it *pb.Item, part uint32) ([]*pb.Keyword, error) {
		return parts(it, min(part, 8)) // the last part twice
	}
	for name, p := range map[string]barrels.Parts{"ids": wrong, "none": nil} {
		if err := s.ApplyParts(context.Background(), d, p); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Reset_ = true
	if err := s.ApplyParts(context.Background(), d, parts); !fault.Is(err, fault.Invalid) {
		t.Errorf("reset: %v", err)
	}
	if g.writes > 0 || bidOf(t, s) != 1_000_000 {
		t.Errorf("%d batches", g.writes)
	}
}
