package barreltest

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/schema/pb"
	"adshard/search"
)

// Bulky returns the bucket of a clock for tests of crashes and full disks: the items of a world,
// with bids and names that depend on the clock, and ads that do not compress. It has a few hundred
// kilobytes.
func Bulky(world *pb.NodeData, clock uint64) *pb.NodeData {
	d := &pb.NodeData{From: At(clock - 1), To: At(clock)}
	for _, it := range world.Items {
		n := proto.CloneOf(it)
		bid := clock * 1_000_000
		n.Keywords[0].Bid = &bid
		n.Group.Name = fmt.Sprint(clock)
		for i := range n.Group.Ads {
			n.Group.Ads[i].Headlines = []string{fmt.Sprintf("%x", Noise(clock*1000+it.Group.Id, 4096))}
		}
		d.Items = append(d.Items, n)
	}
	return d
}

// Noise returns n bytes that do not compress.
func Noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return b
}

// SameClock fails unless the store is at the given clock and has the groups, which must be more
// than 20, with the names and bids that Bulky gives them at this clock (from 2 on).
func SameClock(t TB, s barrels.Store, groups, clock uint64) {
	t.Helper()
	r := query(t, "usb cable")
	r.Slots = 20
	a := ask(t, s, r)
	if at := s.Position().Clock; at != clock || a.AppliedClock != clock {
		t.Fatalf("the store is at %d, its answer at %d, want %d", at, a.AppliedClock, clock)
	}
	if a.Matched != groups || a.Width != search.WholeRing() || a.Work.BlocksBad != 0 || len(a.Hits) != 21 {
		t.Fatalf("%d of %d matched, width %v, %d bad, %d hits", a.Matched, groups, a.Width, a.Work.BlocksBad, len(a.Hits))
	}
	for _, h := range a.Hits {
		c, err := h.Display.Content()
		if err != nil || clock > 1 && (h.Score/h.Quality != clock*1_000_000 || c.Group != fmt.Sprint(clock)) {
			t.Fatalf("clock %d: bid %d of group %q, %v", clock, h.Score/h.Quality, c.Group, err)
		}
	}
}

// RightOrIncomplete fails if the answer to a query that matches `want` keywords is wrong but claims
// to be complete. It reports whether the answer is right.
func RightOrIncomplete(t TB, s search.Searcher, text string, want uint64) bool {
	t.Helper()
	a, err := s.Search(context.Background(), query(t, text))
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	right := a.Matched == want && len(a.Hits) == 5
	if !right && (a.Width == search.WholeRing() || a.Work.BlocksBad == 0) {
		t.Fatalf("%d of %d matched, %d hits, and the answer claims to be complete", a.Matched, want, len(a.Hits))
	}
	return right
}
