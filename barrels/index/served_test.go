package index

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/schema/pb"
)

// TestServedNeedsNoCheck: if the whole table is served in the view, groups need no check;
// if a slice moves, they do.
func TestServedNeedsNoCheck(t *testing.T) {
	half := func(from, until uint64, state pb.HeldState) *pb.SliceTable {
		return &pb.SliceTable{View: 3, Slices: []*pb.HeldSlice{
			{Id: 1, Lo: 0, Hi: 99, From: 1}, {Id: 2, Lo: 500, Hi: 599, From: from, Until: until, State: state},
		}}
	}
	for name, c := range map[string]struct {
		table   *pb.SliceTable
		orphans bool
		view    uint64
		all     bool
	}{
		"two slices":       {half(1, 0, 0), false, 3, true},
		"another view":     {half(1, 2, 0), false, 2, true},
		"gone":             {half(1, 2, 0), false, 3, false},
		"to come":          {half(3, 0, 0), false, 2, false},
		"held":             {half(0, 0, 0), false, 3, false},
		"filling":          {half(0, 0, pb.HeldState_HELD_STATE_FILLING), false, 3, false},
		"residue":          {half(1, 0, pb.HeldState_HELD_STATE_RESIDUE), false, 3, false},
		"perhaps orphans":  {half(1, 0, 0), true, 3, false},
		"whole ring":       {&pb.SliceTable{View: 3, Slices: []*pb.HeldSlice{{Hi: ^uint64(0), From: 1}}}, true, 3, true},
		"nothing, orphans": {new(pb.SliceTable), true, 0, false},
		"nothing and none": {new(pb.SliceTable), false, 0, true},
	} {
		if s := serve(c.table, c.view, c.orphans); s.all != c.all {
			t.Errorf("%s: needs no check: %v", name, s.all)
		}
	}
}

// TestServedIsTheTables: which keys are served, by any slice, agrees with the table.
func TestServedIsTheTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := &pb.SliceTable{View: 5}
		lo := uint64(0)
		for i := range rapid.IntRange(0, 40).Draw(t, "slices") {
			lo += rapid.Uint64Range(0, 2).Draw(t, "gap")
			h := &pb.HeldSlice{Id: uint64(i + 1), Lo: lo, Hi: lo + rapid.Uint64Range(0, 3).Draw(t, "width")}
			h.From, h.Until = rapid.Uint64Range(0, 5).Draw(t, "from"), rapid.Uint64Range(0, 5).Draw(t, "until")
			h.State = pb.HeldState(rapid.Int32Range(0, 2).Draw(t, "state"))
			table.Slices = append(table.Slices, h)
			lo = h.Hi + 1
		}
		view := rapid.Uint64Range(1, 5).Draw(t, "view")
		orphans := rapid.Bool().Draw(t, "orphans")
		s := serve(table, view, orphans)
		at := 0
		for key := range lo + 3 {
			var named, want bool
			var slice uint64
			for _, h := range table.Slices {
				if h.Lo <= key && key <= h.Hi {
					named = true
					if want = isServed(h, view); want {
						slice = h.Id
					}
				}
			}
			if (named || orphans) && s.Holds(key) != want || s.Slice(key) != slice {
				t.Fatalf("key %d: served %v by %d, want %v by %d", key, s.Holds(key), s.Slice(key), want, slice)
			}
			var in bool
			if at, in = s.Next(at, key); in != want {
				t.Fatalf("key %d: next says %v", key, in)
			}
		}
	})
}
