package barreltest

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
)

// positions checks that a bucket moves the store from one position to the next, and that a bucket
// which begins elsewhere is refused and changes nothing.
func positions(t *testing.T, open Open) {
	s := open(t, "positions")
	defer s.Close()
	if !proto.Equal(s.Position(), &pb.Position{}) {
		t.Fatalf("an empty store is at %v", s.Position())
	}
	w := Small(2, "usb cable")
	first := NewBuilder(t, w).All()
	first.Reset_, first.From = false, &pb.Position{}
	put(t, s, first)
	if !proto.Equal(s.Position(), At(1)) {
		t.Fatalf("at %v", s.Position())
	}
	for _, from := range []*pb.Position{nil, At(2), {Epoch: 2, Clock: 1}, {Epoch: 1, Clock: 1, Quantum: 1}, {Epoch: 1, Clock: 1, Offset: 1}} {
		refuse(t, s, &pb.NodeData{From: from, To: At(9), Deleted: []uint64{Key(t, w.Items[0])}}, fault.Stale)
	}
	refuse(t, s, first, fault.Stale) // applied exactly once
	matches(t, s, "usb cable", 2)
	put(t, s, &pb.NodeData{From: At(1), To: At(5)})
	if a := ask(t, s, query(t, "usb cable")); a.AppliedClock != 5 || a.Matched != 2 {
		t.Fatalf("clock %d, %d matched", a.AppliedClock, a.Matched)
	}
	p := s.Position()
	p.Clock = 77 // returned values belong to the caller
	if s.Position().Clock != 5 {
		t.Fatalf("the store's position changed with the caller's copy")
	}
}

// resets checks that a bucket with Reset_ empties the store first, whatever its position.
func resets(t *testing.T, open Open) {
	s := open(t, "resets")
	defer s.Close()
	put(t, s, NewBuilder(t, Small(5, "usb cable", "hdmi cable")).All())
	w := Small(1, "red shoes")
	put(t, s, NewBuilder(t, w).All())
	matches(t, s, "usb cable", 0)
	matches(t, s, "red shoes", 1)
	SameStats(t, s, w)
	if st := s.Stats(); st.Campaigns != 1 || st.Advertisers != 1 {
		t.Fatalf("earlier parents: %+v", st)
	}
	put(t, s, &pb.NodeData{Reset_: true, To: At(3)})
	SameStats(t, s, Small(0))
	if len(s.Slices().Slices) != 0 {
		t.Fatalf("earlier slices: %v", s.Slices())
	}
}

// replacements checks that an item replaces its whole group: keywords that it lacks are removed,
// whatever else changes.
func replacements(t *testing.T, open Open) {
	s := open(t, "replacements")
	defer s.Close()
	w := Small(3, "usb cable", "hdmi cable", "vga cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	it := *w.Items[1]
	it.Keywords = it.Keywords[1:2]
	w.Items[1] = &it
	put(t, s, &pb.NodeData{From: s.Position(), To: At(2), Items: []*pb.Item{b.Item(&it)}})
	matches(t, s, "usb vga hdmi cable", 7)
	SameStats(t, s, w)
	put(t, s, &pb.NodeData{From: s.Position(), To: At(3), Deleted: []uint64{Key(t, &it), 12345}})
	matches(t, s, "usb vga hdmi cable", 6)
	w.Items = append(w.Items[:1:1], w.Items[2])
	SameStats(t, s, w)
}

// kept checks that a store still has the applied buckets when it is opened again.
func kept(t *testing.T, open Open) {
	w := Small(3, "usb cable", "hdmi cable")
	b := NewBuilder(t, w)
	s := open(t, "kept")
	put(t, s, b.All())
	c := b.Campaign(w.Campaigns[0])
	c.Enabled = false
	put(t, s, &pb.NodeData{From: At(1), To: &pb.Position{Epoch: 2, Clock: 3, Quantum: 4, Offset: 5}, Campaigns: []*pb.Campaign{c}})
	before := s.Stats()
	closeStore(t, s)
	s = open(t, "kept")
	defer s.Close()
	if !proto.Equal(s.Position(), &pb.Position{Epoch: 2, Clock: 3, Quantum: 4, Offset: 5}) || !proto.Equal(s.Slices(), WholeRing()) {
		t.Fatalf("opened again: at %v, slices %v", s.Position(), s.Slices())
	}
	after := s.Stats()
	before.DiskBytes, after.DiskBytes, before.Memory, after.Memory = 0, 0, barrels.Memory{}, barrels.Memory{}
	before.DB, after.DB = kv.Statistics{}, kv.Statistics{}
	if before != after {
		t.Fatalf("sizes %+v, before %+v", after, before)
	}
	matches(t, s, "usb cable", 2)
}

func closeStore(t TB, s barrels.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// closing checks that a closed store returns an error from all calls, and can be closed twice.
func closing(t *testing.T, open Open) {
	s := open(t, "closing")
	put(t, s, NewBuilder(t, Small(1, "usb cable")).All())
	closeStore(t, s)
	closeStore(t, s)
	ctx := context.Background()
	_, err := s.Search(ctx, query(t, "usb cable"))
	_, err2 := s.Explain(ctx, query(t, "usb cable"), 1)
	err3 := s.Apply(ctx, &pb.NodeData{From: At(1), To: At(2)})
	err4 := s.Maintain(ctx)
	for _, err := range []error{err, err2, err3, err4} {
		if !fault.Is(err, fault.Unavailable) {
			t.Fatalf("a closed store says %v", err)
		}
	}
	if st := s.Stats(); st.Groups != 0 || s.Position() == nil || s.Slices() == nil {
		t.Fatalf("a closed store has %+v", st)
	}
}
