package barreltest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// viewsRefused checks that a view newer than the table's gives fault.Unavailable, and one older
// than its least view fault.Stale. A store without views accepts any view.
func viewsRefused(t *testing.T, open Open) {
	s := open(t, "views")
	defer s.Close()
	in := func(view uint64) error {
		t.Helper()
		r := query(t, "usb cable")
		r.View = view
		_, err := s.Search(context.Background(), r)
		_, err2 := s.Explain(context.Background(), r, 10)
		if fault.KindOf(err) != fault.KindOf(err2) {
			t.Fatalf("view %d: search says %v, explain %v", view, err, err2)
		}
		return err
	}
	if err := in(7); err != nil {
		t.Fatalf("an empty store: %v", err)
	}
	d := NewBuilder(t, Small(3, "usb cable")).All()
	d.Slices.View, d.Slices.Least = 9, 7
	put(t, s, d)
	for view, kind := range map[uint64]fault.Kind{1: fault.Stale, 6: fault.Stale, 10: fault.Unavailable, 99: fault.Unavailable} {
		if err := in(view); !fault.Is(err, kind) {
			t.Errorf("view %d: %v, want %v", view, err, kind)
		}
	}
	for _, view := range []uint64{0, 7, 8, 9} {
		if err := in(view); err != nil {
			t.Errorf("view %d: %v", view, err)
		}
	}
}

// clearing checks that groups in cleared intervals are removed with all their data, except those
// among the bucket's items, which stay or arrive.
func clearing(t *testing.T, open Open) {
	s := open(t, "clearing")
	defer s.Close()
	w := Small(12, "usb cable", "hdmi cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	slices.SortFunc(w.Items, func(x, y *backend.Item) int { return cmp.Compare(Key(t, x), Key(t, y)) })
	key := func(i int) uint64 { return Key(t, w.Items[i]) }
	matches(t, s, "usb hdmi cable", 24) // the caches are warm
	put(t, s, &pb.NodeData{
		From: At(1), To: At(2),
		Cleared: []*pb.Interval{{Lo: 0, Hi: key(1)}, {Lo: key(3), Hi: key(6) - 1}, {Lo: key(11), Hi: ^uint64(0)}},
		Items:   []*pb.Item{b.Item(w.Items[4])},
		Deleted: []uint64{key(3), key(8), key(8)},
	})
	w.Items = []*backend.Item{w.Items[2], w.Items[4], w.Items[6], w.Items[7], w.Items[9], w.Items[10]}
	matches(t, s, "usb hdmi cable", 12)
	SameStats(t, s, w)
	put(t, s, &pb.NodeData{From: At(2), To: At(3), Cleared: []*pb.Interval{{Lo: 0, Hi: ^uint64(0)}}})
	matches(t, s, "usb hdmi cable", 0)
	SameStats(t, s, Small(0))
}

// clearedAndBrought checks that a filled interval has only the groups that were brought, whatever
// was left there before.
func clearedAndBrought(t *testing.T, open Open) {
	s := open(t, "brought")
	defer s.Close()
	w := Small(6, "usb cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	gone := WholeRing()
	gone.View, gone.Slices[0].State, gone.Slices[0].From = 2, pb.HeldState_HELD_STATE_RESIDUE, 0
	put(t, s, &pb.NodeData{From: At(1), To: At(2), Slices: gone})
	if a := ask(t, s, query(t, "usb cable")); a.Matched != 0 || a.Width != (search.Width{}) {
		t.Fatalf("residue is served: %+v", a)
	}
	back := WholeRing()
	back.View, back.Slices[0].From, back.Slices[0].Generation = 3, 3, 2
	d := &pb.NodeData{From: At(2), To: At(3), Slices: back, Cleared: []*pb.Interval{{Lo: 0, Hi: ^uint64(0)}}}
	w.Items = w.Items[2:4]
	for _, it := range w.Items {
		d.Items = append(d.Items, b.Item(it))
	}
	put(t, s, d)
	matches(t, s, "usb cable", 2)
	SameStats(t, s, w)
}

// moves checks a store whose groups arrive, leave and are cleared under changing tables. In each
// view the answer must be that of the groups in full slices served in the view, and the certificate
// that of the groups present.
func moves(t *testing.T, open Open) {
	s := open(t, "moves")
	defer s.Close()
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		m := newMoving(t, &w)
		put(t, s, m.first(t))
		for range rapid.IntRange(1, 4).Draw(t, "buckets") {
			d := m.bucket(t, s.Position())
			put(t, s, d)
			if rapid.IntRange(0, 5).Draw(t, "maintenance") == 0 {
				if err := s.Maintain(context.Background()); err != nil {
					t.Fatalf("maintain: %v", err)
				}
			}
			m.certified(t, s)
			view := rapid.Uint64Range(0, m.table.View+1).Draw(t, "view")
			r := oracletest.DrawRequest(t, w)
			q := Request(t, r, lex)
			q.View = view
			switch {
			case view > m.table.View:
				refuseSearch(t, s, q, fault.Unavailable)
			case view != 0 && view < m.table.Least:
				refuseSearch(t, s, q, fault.Stale)
			default:
				served, width := m.served(t, view)
				SameAnswerIn(t, s, Judge(t, served, lex), r, lex, view, width)
			}
		}
	})
}

func refuseSearch(t TB, s barrels.Store, q *search.Request, kind fault.Kind) {
	t.Helper()
	if _, err := s.Search(context.Background(), q); !fault.Is(err, kind) {
		t.Fatalf("view %d: %v, want %v", q.View, err, kind)
	}
}

// moving is the expected content of a store with moving slices.
type moving struct {
	world *oracletest.World
	build *Builder
	keys  []uint64 // keys of the world's groups and some keys between them, ascending
	items map[uint64]*backend.Item
	here  map[uint64]*pb.Item // by key
	table *pb.SliceTable
	clock uint64
}

func newMoving(t *rapid.T, w *oracletest.World) *moving {
	m := &moving{world: w, build: NewBuilder(t, w), items: map[uint64]*backend.Item{}, here: map[uint64]*pb.Item{}}
	m.keys = append(m.keys, 0, ^uint64(0))
	for _, it := range w.Items {
		k := Key(t, it)
		m.items[k] = it
		m.keys = append(m.keys, k, k+1, k-1)
	}
	slices.Sort(m.keys)
	m.keys = slices.Compact(m.keys)
	return m
}

// first returns a bucket with all parents and some of the groups.
func (m *moving) first(t *rapid.T) *pb.NodeData {
	d := m.build.All()
	d.Items, d.Slices = nil, nil
	m.clock = d.To.Clock
	m.draw(t, d)
	return d
}

// bucket returns a bucket that brings, deletes and clears some groups, optionally with another table.
func (m *moving) bucket(t *rapid.T, from *pb.Position) *pb.NodeData {
	m.clock++
	d := m.build.All() // parents come along with their groups
	d.Reset_, d.From, d.To, d.Items, d.Slices = false, from, At(m.clock), nil, nil
	d.To.Offset = rapid.SampledFrom(m.keys).Draw(t, "offset")
	m.draw(t, d)
	return d
}

func (m *moving) draw(t *rapid.T, d *pb.NodeData) {
	if d.Reset_ || rapid.Bool().Draw(t, "new table") {
		m.table = m.drawTable(t)
		d.Slices = m.table
	}
	for _, v := range m.intervals(t, "cleared") {
		if rapid.Bool().Draw(t, "clear") {
			d.Cleared = append(d.Cleared, v)
			for k := range m.here {
				if v.Lo <= k && k <= v.Hi {
					delete(m.here, k)
				}
			}
		}
	}
	for _, k := range m.keys {
		it := m.items[k]
		if it == nil {
			continue
		}
		switch rapid.IntRange(0, 5).Draw(t, "item") {
		case 0, 1:
			m.here[k] = m.build.Item(it)
			d.Items = append(d.Items, m.here[k])
		case 2:
			delete(m.here, k)
			d.Deleted = append(d.Deleted, k)
		}
	}
}

// intervals returns the intervals between some of the keys.
func (m *moving) intervals(t *rapid.T, label string) (out []*pb.Interval) {
	cuts := rapid.SliceOfNDistinct(rapid.SampledFrom(m.keys), 0, min(len(m.keys), 6), rapid.ID).Draw(t, label)
	slices.Sort(cuts)
	lo := uint64(0)
	for _, c := range append(cuts, ^uint64(0)) {
		if c < lo {
			continue
		}
		out = append(out, &pb.Interval{Lo: lo, Hi: c})
		if lo = c + 1; lo == 0 {
			break
		}
	}
	return out
}

func (m *moving) drawTable(t *rapid.T) *pb.SliceTable {
	out := &pb.SliceTable{View: rapid.Uint64Range(1, 6).Draw(t, "newest")}
	out.Least = rapid.Uint64Range(0, out.View).Draw(t, "least")
	plain := rapid.Bool().Draw(t, "all served")
	for i, v := range m.intervals(t, "slices") {
		h := &pb.HeldSlice{Id: uint64(i + 1), Lo: v.Lo, Hi: v.Hi, Generation: 1, From: 1}
		if !plain {
			h.From = rapid.Uint64Range(0, out.View).Draw(t, "from")
			h.Until = rapid.SampledFrom([]uint64{0, 0, h.From, out.View}).Draw(t, "until")
			h.State = pb.HeldState(rapid.SampledFrom([]int32{0, 0, 1, 2}).Draw(t, "state"))
		}
		if rapid.IntRange(0, 5).Draw(t, "named") > 0 {
			out.Slices = append(out.Slices, h)
		}
	}
	return out
}

// served returns the part of the world served in a view, found group by group, and its width.
func (m *moving) served(t TB, view uint64) (*oracletest.World, search.Width) {
	if view == 0 {
		view = m.table.View
	}
	var width search.Width
	w := *m.world
	w.Items = nil
	for _, h := range m.table.Slices {
		if h.State != pb.HeldState_HELD_STATE_FULL || h.From == 0 || view < h.From || h.Until != 0 && view > h.Until {
			continue
		}
		width = width.Add(search.IntervalWidth(h.Lo, h.Hi))
		for _, it := range m.world.Items {
			if k := Key(t, it); m.here[k] != nil && h.Lo <= k && k <= h.Hi {
				w.Items = append(w.Items, it)
			}
		}
	}
	return &w, width
}
