package barrels

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// views is a table of slices with what it serves in the views asked for. It is
// shared by all states with the same table.
type views struct {
	number uint64         // differs for each table that a store has had
	shard  search.ShardID // of the table; 0: the store has no name
	table  *pb.SliceTable
	// strays: there may be groups at keys that the table does not name.
	strays bool
	newest *served

	mu     sync.Mutex
	others map[uint64]*served // of other views asked for; guarded by mu
}

// maxViews bounds the views remembered; masters ask for one or two.
const maxViews = 16

func newViews(name string, number uint64, t *pb.SliceTable, strays bool) *views {
	v := &views{number: number, table: t, strays: strays, others: make(map[uint64]*served)}
	if name != "" {
		v.shard = search.NewShardID(Database(t), t.GetTimeline(), name)
	}
	v.newest = v.serve(t.GetView())
	return v
}

func (v *views) serve(view uint64) *served {
	s := serve(v.table, view, v.strays)
	s.views = v.number
	return s
}

// Database returns the id of the database whose data a table of slices is of; "":
// the store has none yet.
func Database(t *pb.SliceTable) string {
	id, _, _ := strings.Cut(t.GetOrigin(), "/")
	return id
}

// served returns what is served in a view; 0: the newest. A table that names no
// view, that of a store that knows none, serves nothing or, in every view, what
// an offline build put there. Errors: fault.Conflict for another
// shard, fault.Unavailable for a view above the table's, fault.Stale for one
// below its least.
func (v *views) served(op string, shard search.ShardID, view uint64) (*served, error) {
	newest := v.table.GetView()
	switch {
	case shard != v.shard && shard != 0 && v.shard != 0:
		return nil, fault.Newf(fault.Conflict, op,
			"the request is for another slave, database or timeline than this one's: database %q, timeline %q",
			Database(v.table), v.table.GetTimeline())
	case view == 0 || view == newest:
		return v.newest, nil
	case newest != 0 && view > newest:
		return nil, fault.Newf(fault.Unavailable, op,
			"view %d was asked for, and the newest that this store knows is %d; ask again in a moment", view, newest)
	case view < v.table.GetLeast():
		return nil, fault.Newf(fault.Stale, op,
			"view %d is no longer served, only those from %d on; ask again with a newer map", view, v.table.GetLeast())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.others[view]
	if s == nil {
		if s = v.serve(view); len(v.others) < maxViews {
			v.others[view] = s
		}
	}
	return s, nil
}

// served is which part of the ring a table of slices serves in one view.
type served struct {
	views  uint64 // number of the table
	view   uint64
	width  search.Width
	slices []*pb.HeldSlice // by rising lo
	bounds []run           // of slices
	// all: whatever group is there is served, so that none needs a check. Else
	// those served are the ones whose key lies in runs, or, with except, the
	// ones whose key does not.
	all, except bool
	runs        []run
}

// run is an interval of keys, both ends inclusive.
type run struct{ lo, hi uint64 }

// serve finds out what is served. Where the table names all groups there are,
// only slices that are on their way cost a check.
func serve(t *pb.SliceTable, view uint64, strays bool) *served {
	s := &served{view: view}
	s.slices, s.width = ServedSlices(t, view)
	for _, h := range s.slices {
		s.bounds = append(s.bounds, run{h.Lo, h.Hi})
	}
	s.runs = joined(s.slices, nil)
	s.all = len(s.runs) == 1 && s.runs[0] == run{0, ^uint64(0)}
	if strays || s.all {
		return s
	}
	s.except, s.runs = true, joined(t.GetSlices(), func(h *pb.HeldSlice) bool { return !isServed(h, view) })
	s.all = len(s.runs) == 0
	return s
}

// joined lists the intervals of the slices wanted, neighbours as one.
func joined(list []*pb.HeldSlice, want func(*pb.HeldSlice) bool) (runs []run) {
	for _, h := range list {
		if want != nil && !want(h) {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].hi+1 == h.Lo {
			runs[n-1].hi = h.Hi
		} else {
			runs = append(runs, run{h.Lo, h.Hi})
		}
	}
	return runs
}

// holds tells whether the group at a key, which is there, is served.
func (s *served) holds(key uint64) bool {
	return s.all || within(s.runs, key) != s.except
}

// wholly reports whether a table says that all groups of an interval are there.
func wholly(t *pb.SliceTable, lo, hi uint64) bool {
	full := joined(t.GetSlices(), func(h *pb.HeldSlice) bool { return h.State == pb.HeldState_HELD_STATE_FULL })
	return covered(run{lo, hi}, full, nil)
}

// within tells whether a key lies in one of these disjoint, rising intervals.
func within(runs []run, key uint64) bool {
	lo, hi := 0, len(runs)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); runs[mid].hi < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(runs) && runs[lo].lo <= key
}

// index returns the place in slices of the one that serves a key, or of the
// first after it.
func (s *served) index(key uint64) int {
	return sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i].hi >= key })
}

// next is index for a key that is not before the slice at a place; it tells
// whether the slice serves the key. Groups in a block are near each other.
func (s *served) next(at int, key uint64) (int, bool) {
	const near = 8
	for last := at + near; at < len(s.bounds) && s.bounds[at].hi < key; at++ {
		if at == last {
			at = s.index(key)
			break
		}
	}
	return at, at < len(s.bounds) && s.bounds[at].lo <= key
}

// slice returns the id of the slice that serves a key; 0: none.
func (s *served) slice(key uint64) uint64 {
	if i, in := s.next(s.index(key), key); in {
		return s.slices[i].Id
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
