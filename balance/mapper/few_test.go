package mapper_test

import (
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/mapper"
	"adshard/balance/strategy"
)

// seconds lets seconds pass with the given queries per second and costs of slices; slaves
// that hold nothing get no queries.
func (r *rig) seconds(n int, queries uint64, micros func(balance.Slice) uint64) {
	r.t.Helper()
	for range n {
		r.pass(time.Second)
		for _, shard := range r.m.Model().Shards() {
			report := &load.Report{Incarnation: "1", Number: uint64(r.now), Interval: time.Second}
			for _, s := range r.m.Model().Slices() {
				if s.Shard == shard.ID {
					report.Queries = queries
					report.Slices = append(report.Slices, load.SliceCost{
						Slice: s.ID, Generation: s.Generation, Cost: load.Cost{Micros: micros(s)}})
				}
			}
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: shard.Name, Incarnation: "1", Load: report}))
		}
		r.carry()
	}
}

// TestAnIdleClusterRests: before the first query, weights stand for the load. As soon as some
// load was measured, few queries move nothing, however uneven their cost seems and however
// long this lasts. Enough queries do.
func TestAnIdleClusterRests(t *testing.T) {
	moves, err := strategy.Named("weighted-move")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, 8, func(c *cluster.Config) { c.Shadows = []balance.Strategy{moves} }, "a", "b", "c")
	r.cfg.Strategy, r.cfg.Interval = moves, 2*time.Second
	fast, err := strategy.Named("weighted-move-fast")
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Shadows = append(r.cfg.Shadows, fast)
	r.restart("a", "b", "c")
	r.ackAll()
	r.pass(3 * time.Second)
	if s := r.m.Status(r.now); s.Measured || s.Iterations == 0 || strings.Contains(s.Last.Proposal.Reasons[0].Text, "too few") {
		t.Errorf("before any query: %+v", s.Last)
	}
	for range 3 { // some may have moved by weight
		r.through()
		r.pass(2 * time.Second)
	}
	view := r.m.Model().View()
	uneven := func(s balance.Slice) uint64 { return 10 + 9000*(uint64(s.Shard)%2) }
	rests := func(n string) {
		t.Helper()
		s := r.m.Status(r.now)
		if r.m.Model().View() != view || len(s.InFlight) > 0 || !s.Measured {
			t.Fatalf("view %d, then %d; %+v", view, r.m.Model().View(), s)
		}
		want := "too few queries to judge by (" + n + " in the last 10 seconds)"
		if text := s.Last.Proposal.Reasons[0].Text; !strings.Contains(text, want) || s.Last.Moves+s.Last.Evacuated > 0 {
			t.Errorf("%q, wanted %q", text, want)
		}
		for _, sh := range s.Shadows {
			if sh.Moves > 0 {
				t.Errorf("in shadow: %+v", sh)
			}
		}
		if p, err := r.m.Plan(r.now); err != nil || len(p.Ops) > 0 {
			t.Errorf("%v %+v", err, p)
		}
	}
	r.seconds(40, 9, uneven)
	rests("90")
	for _, n := range []string{"a", "b", "c"} { // the load decays to nothing
		for i := range uint64(5) {
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: n, Incarnation: "1", Load: &load.Report{
				Incarnation: "1", Number: uint64(r.now) + 2 + i, Interval: time.Hour}}))
		}
	}
	r.pass(4 * time.Second)
	rests("0")
	if s := r.m.Status(r.now); s.Even.Max != 0 || s.Bound.MaxOverMean != 1 {
		t.Errorf("%+v %+v", s.Even, s.Bound)
	}
	r.seconds(30, 30, uneven)
	if s := r.m.Status(r.now); s.Last.Moves == 0 && len(s.InFlight) == 0 {
		t.Errorf("nothing moves: %+v", s.Last)
	}
}

// TestALoadThatHasCeasedIsNone: when queries stop, what is left of the averages is not shown
// as load. Differences between slaves would mean nothing, and a slave that died under load
// would keep all of its load. Then max/mean and the bound are 1, and new queries bring the
// loads back at once.
func TestALoadThatHasCeasedIsNone(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.through()
	uneven := func(s balance.Slice) uint64 { return 1000 + 9000*(uint64(s.Shard)%2) }
	r.seconds(30, 50, uneven)
	busy := r.m.Status(r.now)
	if busy.NoQueries || busy.Even.Ratio() < 1.1 || busy.Bound.MaxOverMean == 0 {
		t.Fatalf("under load: %+v, no queries %v", busy.Even, busy.NoQueries)
	}
	quiet := func(from, seconds int, names ...string) {
		for i := range seconds {
			for _, n := range names { // each at its own pace
				r.must(r.m.Report(r.now, mapper.SlaveReport{Name: n, Incarnation: "1", Load: &load.Report{
					Incarnation: "1", Number: uint64(r.now) + uint64(from+i) + 2, Interval: time.Second + time.Duration(len(n))*time.Millisecond}}))
			}
		}
	}
	quiet(0, 20, "a", "b", "c")
	if s := r.m.Status(r.now); s.NoQueries || s.Even.Max <= 0 {
		t.Errorf("20 s later the load is still known: %+v, no queries %v", s.Even, s.NoQueries)
	}
	r.mute["c"] = true
	quiet(20, 600, "a", "b") // c is silent and keeps its load
	r.pass(time.Minute)
	quiet(620, 1, "a", "b")
	s := r.m.Status(r.now)
	if !s.NoQueries || !s.Measured || s.Even.Max != 0 || s.Even.Ratio() != 1 || s.Bound.MaxOverMean != 1 || s.LeastMove != 0 {
		t.Errorf("queries have stopped: %+v, bound %+v, least move %d, no queries %v", s.Even, s.Bound, s.LeastMove, s.NoQueries)
	}
	for _, n := range s.Shards {
		if n.Load != 0 {
			t.Errorf("%s has a load of %g", n.Name, n.Load)
		}
	}
	if in, ok := r.m.Input(r.now); !ok || !in.NoQueries || load.Evenness(in).Ratio() != 1 || load.LowerBound(in).MaxOverMean != 1 {
		t.Error("people see a different load than the status")
	}
	delete(r.mute, "c")
	r.seconds(3, 50, uneven)
	if s := r.m.Status(r.now); s.NoQueries || s.Even.Max < 1000 {
		t.Errorf("queries come again: %+v, no queries %v", s.Even, s.NoQueries)
	}
}
