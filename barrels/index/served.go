package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Slices is a table of slices with what it serves in the requested views. States with the same
// table share one.
type Slices struct {
	Shard search.ShardID // shard of the table; 0 if the store has no name
	Table *pb.SliceTable
	// Orphans means that there may be groups with keys that the table does not cover.
	Orphans bool
	newest  *Served

	mu     sync.Mutex
	others map[uint64]*Served // results for other requested views; guarded by mu
}

// maxViews bounds the number of views remembered. Masters request one or two.
const maxViews = 16

// NewSlices returns what a store's table serves in each view. name is the store's name, or "" if it
// has none. orphans means that the store has groups that the table does not cover.
func NewSlices(name string, t *pb.SliceTable, orphans bool) *Slices {
	v := &Slices{Table: t, Orphans: orphans, others: make(map[uint64]*Served)}
	if name != "" {
		v.Shard = search.NewShardID(Database(t), t.GetTimeline(), ShardName(name, t))
	}
	v.newest = serve(t, t.GetView(), orphans)
	return v
}

// ShardName returns the name of the shard of which a slave with this name and table is a replica.
// It returns "", which is not the name of any shard, if the slave is a spare.
func ShardName(slave string, t *pb.SliceTable) string {
	if t.GetSpare() {
		return ""
	}
	return cmp.Or(t.GetShard(), slave)
}

// Database returns the id of the database whose data a table of slices describes, or "" if the
// store has none yet.
func Database(t *pb.SliceTable) string {
	id, _, _ := strings.Cut(t.GetOrigin(), "/")
	return id
}

// Served returns what is served in a view, where 0 means the newest. A table without views serves
// nothing or, in every view, what an offline build put there. Errors: fault.Conflict if the shard
// is another one, fault.Unavailable if the view is newer than the table's, fault.Stale if it is
// older than the table's least view.
func (v *Slices) Served(op string, shard search.ShardID, view uint64) (*Served, error) {
	newest := v.Table.GetView()
	switch {
	case shard != v.Shard && shard != 0 && v.Shard != 0:
		return nil, fault.Newf(fault.Conflict, op,
			"the request is for another shard, database or timeline than this one's: database %q, timeline %q",
			Database(v.Table), v.Table.GetTimeline())
	case view == 0 || view == newest:
		return v.newest, nil
	case newest != 0 && view > newest:
		return nil, fault.Newf(fault.Unavailable, op,
			"view %d was asked for, and the newest that this store knows is %d; ask again in a moment", view, newest)
	case view < v.Table.GetLeast():
		return nil, fault.Newf(fault.Stale, op,
			"view %d is no longer served, only those from %d on; ask again with a newer map", view, v.Table.GetLeast())
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.others[view]
	if s == nil {
		if s = serve(v.Table, view, v.Orphans); len(v.others) < maxViews {
			v.others[view] = s
		}
	}
	return s, nil
}

// Newest returns what is served in the newest view.
func (v *Slices) Newest() *Served { return v.newest }

// Served is the part of the ring that a table of slices serves in one view.
type Served struct {
	Number uint64 // unique in the process
	View   uint64
	width  search.Width
	Slices []*pb.HeldSlice // by ascending lo
	bounds []Interval      // bounds of Slices
	// all means that every group present is served, so that none needs a check. Otherwise the
	// served groups are those with keys in runs or, if except is set, with keys outside runs.
	all, except bool
	runs        []Interval
}

// servings counts the values of Served made so far.
var servings atomic.Uint64

// serve determines what is served in a view. If the table covers all groups, only groups in slices
// that are being moved need a check.
func serve(t *pb.SliceTable, view uint64, orphans bool) *Served {
	s := &Served{Number: servings.Add(1), View: view}
	s.Slices, s.width = ServedSlices(t, view)
	for _, h := range s.Slices {
		s.bounds = append(s.bounds, Interval{h.Lo, h.Hi})
	}
	s.runs = Joined(s.Slices, nil)
	s.all = len(s.runs) == 1 && s.runs[0] == Interval{0, ^uint64(0)}
	if orphans || s.all {
		return s
	}
	s.except, s.runs = true, Joined(t.GetSlices(), func(h *pb.HeldSlice) bool { return !isServed(h, view) })
	s.all = len(s.runs) == 0
	return s
}

// Holds reports whether the group with a key, which the store must have, is served.
func (s *Served) Holds(key uint64) bool {
	return s.all || Within(s.runs, key) != s.except
}

// HoldsWholly reports whether a table says that the store has all groups of an interval.
func HoldsWholly(t *pb.SliceTable, lo, hi uint64) bool {
	full := Joined(t.GetSlices(), func(h *pb.HeldSlice) bool { return h.State == pb.HeldState_HELD_STATE_FULL })
	return Covered(Interval{lo, hi}, full, nil)
}

// Numbered returns what is served under a number, if it is remembered.
func (v *Slices) Numbered(number uint64) (*Served, bool) {
	if v.newest.Number == number {
		return v.newest, true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.others {
		if s.Number == number {
			return s, true
		}
	}
	return nil, false
}

// Index returns the index in Slices of the slice that serves a key, or of the first slice after the
// key.
func (s *Served) Index(key uint64) int {
	return sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i].Hi >= key })
}

// Next is Index for a key that is not before the slice with index `at`. It also reports whether the
// slice serves the key. It is fast for keys that are near each other, like those of the groups in a
// block.
func (s *Served) Next(at int, key uint64) (int, bool) {
	const near = 8
	for last := at + near; at < len(s.bounds) && s.bounds[at].Hi < key; at++ {
		if at == last {
			at = s.Index(key)
			break
		}
	}
	return at, at < len(s.bounds) && s.bounds[at].Lo <= key
}

// Slice returns the id of the slice that serves a key, or 0 if none does.
func (s *Served) Slice(key uint64) uint64 {
	if i, in := s.Next(s.Index(key), key); in {
		return s.Slices[i].Id
	}
	return 0
}

// Without returns the width served without the slices that touch any of the damaged intervals.
func (s *Served) Without(bad []Interval) search.Width {
	if len(bad) == 0 {
		return s.width
	}
	var w search.Width
	for _, h := range s.Slices {
		hit := slices.ContainsFunc(bad, func(r Interval) bool { return r.Lo <= h.Hi && h.Lo <= r.Hi })
		if !hit {
			w = w.Add(search.IntervalWidth(h.Lo, h.Hi))
		}
	}
	return w
}
