package barrels_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// quarters returns a bucket that fills a store with a world in a table of four slices.
func quarters(t *testing.T) *pb.NodeData {
	t.Helper()
	d := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
	d.Slices = &pb.SliceTable{View: 1}
	for i := range uint64(4) {
		d.Slices.Slices = append(d.Slices.Slices, &pb.HeldSlice{Id: i + 1, Lo: i << 62, Hi: i<<62 | (1<<62 - 1), From: 1})
	}
	return d
}

// Refill returns what a distributor sends to a store at this position that lacks some slices
// of d.
func Refill(s barrels.Store, d *pb.NodeData) *pb.NodeData {
	missing := func(key uint64) bool {
		for _, h := range s.Slices().Slices {
			if h.Lo <= key && key <= h.Hi && h.State == pb.HeldState_HELD_STATE_FULL {
				return false
			}
		}
		return true
	}
	out := &pb.NodeData{From: s.Position(), To: &pb.Position{Epoch: 1, Clock: s.Position().Clock + 1}, Slices: d.Slices}
	for _, it := range d.Items {
		if missing(it.Group.Key) {
			out.Items = append(out.Items, it)
		}
	}
	for _, h := range d.Slices.Slices {
		if missing(h.Lo) {
			out.Cleared = append(out.Cleared, &pb.Interval{Lo: h.Lo, Hi: h.Hi})
		}
	}
	out.Advertisers, out.Campaigns = d.Advertisers, d.Campaigns
	return out
}

// TestDiscardHealsWhateverIsDamaged damages any byte of a block, a page or a group's record,
// removes any value, or adds postings. What is left is served, and after another filling the
// store is as it was.
func TestDiscardHealsWhateverIsDamaged(t *testing.T) {
	x := &healing{t: t, d: quarters(t)}
	db := x.fill()
	whole := open(t, db)
	x.want = x.certify("whole", whole)
	closed(t, whole)
	for _, f := range []kv.Family{kv.Postings, kv.Items} {
		n := 0
		for key, value := range values(db, f) {
			ring := binary.BigEndian.Uint64([]byte(key)[ringAt(f):])
			if n++; n%7 != 0 && f == kv.Items {
				continue
			}
			lo, hi := ring, ring
			if f == kv.Postings { // postings are those of all slices, as certificates show
				lo, hi = 0, ^uint64(0)
			}
			x.heals(fmt.Sprint(f, " missing"), lo, hi, func(b *kv.Batch) { b.Delete(f, []byte(key)) })
			for i := 0; i < len(value); i += 1 + len(value)/5 {
				x.heals(fmt.Sprintf("%v, byte %d of %d", f, i, len(value)), ring, ring, func(b *kv.Batch) { b.Put(f, []byte(key), flipped(value, i)) })
			}
		}
	}
	t.Logf("%d times more slices than one were given up", x.lost)
}

// healing damages stores with the same data, each in a different way.
type healing struct {
	t    *testing.T
	d    *pb.NodeData
	want *barrels.Certificate // of an undamaged store
	lost int                  // how often more than one slice was given up
}

// fill returns the database of a store that has all data.
func (x *healing) fill() kv.DB {
	x.t.Helper()
	db := memory.NewDB()
	s := open(x.t, db)
	defer s.Close()
	if err := s.Apply(context.Background(), x.d); err != nil {
		x.t.Fatal(err)
	}
	return db
}

func (x *healing) certify(name string, s barrels.Store) *barrels.Certificate {
	x.t.Helper()
	c, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil)
	if err != nil {
		x.t.Fatalf("%s: %v", name, err)
	}
	return c
}

// heals damages a store, gives up the data between two keys, and fills the store again.
func (x *healing) heals(name string, lo, hi uint64, damage func(*kv.Batch)) {
	x.t.Helper()
	db := x.fill()
	var b kv.Batch
	damage(&b)
	write(x.t, db, &b)
	s := open(x.t, db)
	defer s.Close()
	if err := s.Discard(context.Background(), []*pb.Interval{{Lo: lo, Hi: hi}}); err != nil {
		x.t.Fatalf("%s: %v", name, err)
	}
	if n := len(s.Slices().Slices); n > 3 {
		x.t.Fatalf("%s: %d slices are served", name, n)
	} else if n < 3 {
		x.lost++
	}
	if s.Purging() {
		x.t.Fatalf("%s: it has not come to its end", name)
	}
	x.serves(name, s)
	if err := s.Apply(context.Background(), Refill(s, x.d)); err != nil {
		x.t.Fatalf("%s: %v", name, err)
	}
	if got := x.certify(name, s); !barreltest.Equal(got, x.want) {
		x.t.Fatalf("%s: it is not what it was", name)
	}
	if c := s.Stats(); c.Groups < 60 || c.Groups > 61 { // a group whose record was missing was not subtracted
		x.t.Fatalf("%s: %+v", name, c)
	}
}

// serves checks that a store serves its slices without meeting damage.
func (x *healing) serves(name string, s barrels.Store) {
	x.t.Helper()
	q, err := search.Expand("usb cable", search.Synonym, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	a, err := s.Search(context.Background(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, ExactCounts: true})
	if err != nil || a.Work.BlocksBad > 0 {
		x.t.Fatalf("%s: %+v, %v", name, a, err)
	}
	if _, width := index.ServedSlices(s.Slices(), 1); a.Width != width {
		x.t.Fatalf("%s: %+v is served of %+v", name, a.Width, width)
	}
}

// ringAt returns the offset of the ring key in a key.
func ringAt(f kv.Family) int {
	if f == kv.Postings {
		return 8
	}
	return 0
}

// TestDiscardGoesOnAfterACrash: slices that were given up stay given up, and the next
// process removes what is left of them.
func TestDiscardGoesOnAfterACrash(t *testing.T) {
	d, kv := quarters(t), memory.NewDB()
	s := open(t, kv)
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Discard(over, []*pb.Interval{{Lo: 5, Hi: 5}}); !fault.Is(err, fault.Cancelled) {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, kv)
	defer s.Close()
	if _, width := index.ServedSlices(s.Slices(), 1); !s.Purging() || width != search.IntervalWidth(1<<62, ^uint64(0)) {
		t.Fatalf("served are %+v, purging: %v", width, s.Purging())
	}
	if err := s.Discard(context.Background(), nil); err != nil || s.Purging() || len(s.Slices().Slices) != 3 {
		t.Fatalf("%v, the table is %v", err, s.Slices())
	}
	if err := s.Apply(context.Background(), Refill(s, d)); err != nil || s.Stats().Groups != 60 {
		t.Fatalf("%v, %+v", err, s.Stats())
	}
}

// TestDiscardInTheMiddleOfAFilling: if nothing is being filled any more, the position says
// so; otherwise the filling continues.
func TestDiscardInTheMiddleOfAFilling(t *testing.T) {
	for _, both := range []bool{false, true} {
		d := quarters(t)
		d.Slices.Slices[2].State, d.Slices.Slices[2].From = pb.HeldState_HELD_STATE_FILLING, 0
		if !both {
			d.Slices.Slices[3].State, d.Slices.Slices[3].From = pb.HeldState_HELD_STATE_FILLING, 0
		}
		d.To.Offset = 1<<63 + 7
		s := open(t, memory.NewDB())
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		if err := s.Discard(context.Background(), []*pb.Interval{{Lo: 2<<62 + 3, Hi: 2<<62 + 3}}); err != nil {
			t.Fatal(err)
		}
		if at := s.Position().Offset; (at == 0) != both || len(s.Slices().Slices) != 3 {
			t.Errorf("the offset is %d, the table %v", at, s.Slices())
		}
		closed(t, s)
	}
}

// TestRenew: the store becomes empty, whatever it contained, and accepts data again.
func TestRenew(t *testing.T) {
	kv := memory.NewDB()
	s := open(t, kv)
	defer s.Close()
	d := quarters(t)
	for range 3 {
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		searching(t, s, 60)
		if err := s.Renew(); err != nil {
			t.Fatal(err)
		}
		if c := s.Stats(); c.Groups+c.Keywords+c.Blocks+c.Terms > 0 || len(s.Slices().Slices) > 0 || s.Position().Clock != 0 {
			t.Fatalf("%+v", c)
		}
		searching(t, s, 0)
	}
}

func searching(t *testing.T, s barrels.Store, matched uint64) {
	t.Helper()
	q, err := search.Expand("usb cable", search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Search(context.Background(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, ExactCounts: true})
	if err != nil || a.Matched != matched {
		t.Fatalf("%+v, %v", a, err)
	}
}

// TestBuilders: a certificate names the version that built all of the data.
func TestBuilders(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	version := func() uint32 {
		c, err := s.Certify(context.Background(), 0, ^uint64(0), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Builder
	}
	if version() != index.AnyBuilder {
		t.Errorf("empty: %d", version())
	}
	d := quarters(t)
	apply := func(builder uint32, reset bool) {
		t.Helper()
		d.From, d.To, d.Reset_, d.Builder = s.Position(), &pb.Position{Epoch: 1, Clock: s.Position().Clock + 1}, reset, builder
		if err := s.Apply(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		builder uint32
		reset   bool
		version uint32
	}{{0, true, 1}, {1, false, 1}, {2, false, 0}, {2, false, 0}, {2, true, 2}, {2, false, 2}} {
		apply(want.builder, want.reset)
		if got := version(); got != want.version {
			t.Errorf("step %d: %d, want %d", i, got, want.version)
		}
		closed(t, s)
		s = open(t, db)
		if got := version(); got != want.version {
			t.Errorf("step %d, opened again: %d, want %d", i, got, want.version)
		}
	}
	closed(t, s)
	var b kv.Batch // as written before data contained it
	b.Delete(kv.Meta, []byte("builder"))
	write(t, db, &b)
	s = open(t, db)
	defer s.Close()
	if version() != 1 {
		t.Errorf("unsaid: %d", version())
	}
}

// TestSearchesReportDamage: searches report where damage may be, so that the slices there
// can be given up.
func TestSearchesReportDamage(t *testing.T) {
	db := memory.NewDB()
	s := open(t, db)
	d := quarters(t)
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	spoil(t, db, kv.Postings, func(_, v []byte) []byte {
		v = bytes.Clone(v)
		v[len(v)/2] ^= 1
		return v
	})
	s = open(t, db)
	defer s.Close()
	var met []barrels.Damage
	s.OnDamage(func(d barrels.Damage) { met = append(met, d) })
	searching(t, s, 0)
	if len(met) == 0 || met[0].Memory || met[0].Hi < met[0].Lo || met[0].What == "" {
		t.Fatalf("%+v", met)
	}
	met = nil
	if _, err := s.Certify(context.Background(), 5, 1<<62, ^uint64(0), nil); !fault.Is(err, fault.Corrupt) || len(met) != 1 || met[0].Lo != 5 {
		t.Fatalf("%v, %+v", err, met)
	}
}
