package barrels

import (
	"slices"

	"adshard/schema/pb"
	"adshard/search"
)

// served is which part of the ring a table of slices serves in one view.
type served struct {
	view   uint64
	width  search.Width
	slices []*pb.HeldSlice // by rising lo
	runs   []run           // the slices, neighbours joined
	whole  bool            // everything
}

// run is an interval of keys, both ends inclusive.
type run struct{ lo, hi uint64 }

func serve(t *pb.SliceTable, view uint64) *served {
	if view == 0 {
		view = t.GetView()
	}
	s := &served{view: view}
	s.slices, s.width = ServedSlices(t, view)
	for _, h := range s.slices {
		if n := len(s.runs); n > 0 && s.runs[n-1].hi+1 == h.Lo && h.Lo != 0 {
			s.runs[n-1].hi = h.Hi
		} else {
			s.runs = append(s.runs, run{h.Lo, h.Hi})
		}
	}
	s.whole = len(s.runs) == 1 && s.runs[0] == run{0, ^uint64(0)}
	return s
}

// holds tells whether a key is served.
func (s *served) holds(key uint64) bool {
	if s.whole {
		return true
	}
	lo, hi := 0, len(s.runs)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); s.runs[mid].hi < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s.runs) && s.runs[lo].lo <= key
}

// slice returns the id of the slice that serves a key; 0: none.
func (s *served) slice(key uint64) uint64 {
	for _, h := range s.slices {
		if h.Lo <= key && key <= h.Hi {
			return h.Id
		}
	}
	return 0
}

// without returns the width served when the slices that touch any of the
// damaged intervals are left out.
func (s *served) without(bad []run) search.Width {
	if len(bad) == 0 {
		return s.width
	}
	var w search.Width
	for _, h := range s.slices {
		hit := slices.ContainsFunc(bad, func(r run) bool { return r.lo <= h.Hi && h.Lo <= r.hi })
		if !hit {
			w = w.Add(search.IntervalWidth(h.Lo, h.Hi))
		}
	}
	return w
}
