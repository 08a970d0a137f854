package barreltest

import (
	"testing"

	"adshard/schema/pb"
	"adshard/search"
)

// slicesServed checks that in each view only the groups of the slices served in it match, and that
// the width says how much of the ring that is.
func slicesServed(t *testing.T, open Open) {
	s := open(t, "slices")
	defer s.Close()
	w := Small(8, "usb cable")
	d := NewBuilder(t, w).All()
	cut := Key(t, w.Items[3])
	d.Slices = &pb.SliceTable{View: 5, Slices: []*pb.HeldSlice{
		{Id: 1, Lo: 0, Hi: cut, From: 2, Until: 4},
		{Id: 2, Lo: cut + 1, Hi: ^uint64(0), From: 3},
	}}
	put(t, s, d)
	var low uint64
	for _, it := range w.Items {
		if Key(t, it) <= cut {
			low++
		}
	}
	lower, upper := search.IntervalWidth(0, cut), search.IntervalWidth(cut+1, ^uint64(0))
	for _, c := range []struct {
		view, matched uint64
		width         search.Width
	}{
		{1, 0, search.Width{}}, {2, low, lower}, {3, 8, search.WholeRing()}, {4, 8, search.WholeRing()},
		{5, 8 - low, upper}, {0, 8 - low, upper},
	} {
		r := query(t, "usb cable")
		r.View = c.view
		a := ask(t, s, r)
		view := c.view
		if view == 0 {
			view = 5
		}
		if a.Matched != c.matched || a.Width != c.width || a.View != view {
			t.Errorf("view %d: %d matched, width %v, view %d; want %+v", c.view, a.Matched, a.Width, a.View, c)
		}
	}
	e, err := s.Explain(t.Context(), query(t, "usb cable"), 100)
	if err != nil || e.Total != 8-low || e.Width != upper || e.View != 5 || e.Matches[0].Slice != 2 {
		t.Errorf("explanation: %+v, %v", e, err)
	}
}

// held checks that a slice which is held and not yet served gives no hits, and that the same data
// are served as soon as the table says so.
func held(t *testing.T, open Open) {
	s := open(t, "held")
	defer s.Close()
	d := NewBuilder(t, Small(3, "usb cable")).All()
	d.Slices.Slices[0].From = 0
	put(t, s, d)
	if a := ask(t, s, query(t, "usb cable")); a.Matched != 0 || a.Width != (search.Width{}) {
		t.Fatalf("not yet served: %+v", a)
	}
	put(t, s, &pb.NodeData{From: At(1), To: At(2), Slices: WholeRing()})
	if a := ask(t, s, query(t, "usb cable")); a.Matched != 3 || a.Width != search.WholeRing() || len(a.Hits) != 3 {
		t.Fatalf("served: %+v", a)
	}
}

// behind checks that a store which has not caught up serves what it has, with a width of 0.
func behind(t *testing.T, open Open) {
	s := open(t, "behind")
	defer s.Close()
	put(t, s, NewBuilder(t, Small(3, "usb cable")).All())
	s.SetCaughtUp(false)
	if a := ask(t, s, query(t, "usb cable")); len(a.Hits) != 3 || a.Width != (search.Width{}) {
		t.Fatalf("behind: %d hits, width %v", len(a.Hits), a.Width)
	}
	s.SetCaughtUp(true)
	if a := ask(t, s, query(t, "usb cable")); a.Width != search.WholeRing() {
		t.Fatalf("caught up: width %v", a.Width)
	}
}

// orphans checks that a group is served only with its parents, and that without them the answer is
// incomplete.
func orphans(t *testing.T, open Open) {
	for _, name := range []string{"campaign", "advertiser"} {
		s := open(t, "orphans "+name)
		d := NewBuilder(t, Small(3, "usb cable")).All()
		if name == "campaign" {
			d.Campaigns = d.Campaigns[1:]
		} else {
			d.Advertisers = d.Advertisers[1:]
		}
		put(t, s, d)
		a := ask(t, s, query(t, "usb cable"))
		if a.Matched != 2 || a.Width == search.WholeRing() || a.Work.BlocksBad == 0 || s.Stats().BadBlocks == 0 {
			t.Errorf("without its %s: %d matched, width %v, %+v", name, a.Matched, a.Width, a.Work)
		}
		closeStore(t, s)
	}
}

// parents checks that a change of a campaign or an advertiser applies to all its groups at once,
// and that bounds never miss a rise of its modifier.
func parents(t *testing.T, open Open) {
	s := open(t, "parents")
	defer s.Close()
	w := Small(40, "usb cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	best := func() uint64 {
		t.Helper()
		r := query(t, "usb cable")
		r.ExactCounts, r.Slots = false, 1
		return ask(t, s, r).Hits[0].Advertiser
	}
	change := func(clock uint64, c *pb.Campaign, a *pb.Advertiser) {
		t.Helper()
		d := &pb.NodeData{From: s.Position(), To: At(clock)}
		if c != nil {
			d.Campaigns = append(d.Campaigns, c)
		}
		if a != nil {
			d.Advertisers = append(d.Advertisers, a)
		}
		put(t, s, d)
	}
	if best() != 40 {
		t.Fatalf("advertiser %d is best", best())
	}
	c := b.Campaign(w.Campaigns[39])
	c.BudgetExhausted = true
	change(2, c, nil)
	if best() != 39 {
		t.Fatalf("exhausted: advertiser %d is best", best())
	}
	change(3, nil, &pb.Advertiser{Id: 39, Name: "advertiser 39"})
	if best() != 38 {
		t.Fatalf("paused: advertiser %d is best", best())
	}
	risen := uint32(10_000)
	c = b.Campaign(w.Campaigns[6])
	c.Modifiers = &pb.Modifiers{Desktop: &risen}
	change(4, c, nil)
	if best() != 7 {
		t.Fatalf("with a modifier of +900 %%: advertiser %d is best", best())
	}
	matches(t, s, "usb cable", 39)
}

// ties checks that the lowest keyword ids win among equal scores, wherever they lie, even if blocks
// that cannot win are skipped.
func ties(t *testing.T, open Open) {
	s := open(t, "ties")
	defer s.Close()
	for _, advertisers := range []int{40, 700} { // one block, several blocks
		w := Small(advertisers, "usb cable")
		for _, it := range w.Items {
			it.Keywords[0].Bid = 1_000_000
		}
		put(t, s, NewBuilder(t, w).All())
		r := query(t, "usb cable")
		r.ExactCounts, r.Slots = false, 3
		a := ask(t, s, r)
		for i, h := range a.Hits {
			if len(a.Hits) != 4 || h.Keyword != uint64(i+1) {
				t.Fatalf("%d advertisers: place %d of %d goes to keyword %d", advertisers, i+1, len(a.Hits), h.Keyword)
			}
		}
	}
}
