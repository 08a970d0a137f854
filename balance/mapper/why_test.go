package mapper_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/mapper"
	"adshard/fault"
)

// loaded reports loads of slaves: milliseconds of a core per second for each slice, and for
// single items.
func (r *rig) loaded(millis map[uint64]uint64, items map[balance.Key]uint64) {
	r.t.Helper()
	for number := uint64(1); number <= 20; number++ {
		r.now += 200 * time.Millisecond
		for _, sh := range r.m.Model().Shards() {
			report := &load.Report{Incarnation: "1", Number: uint64(r.now), Interval: 200 * time.Millisecond, Queries: 10}
			for _, h := range r.table(sh.Name).Slices {
				cost := load.Cost{Examined: 1, Micros: millis[h.ID] * 200}
				report.Slices = append(report.Slices, load.SliceCost{Slice: h.ID, Generation: h.Generation, Cost: cost})
				for k, c := range items {
					if h.Lo <= k && k <= h.Hi {
						report.Items = append(report.Items, load.ItemCost{Key: k, Cost: load.Cost{Micros: c * 200}})
					}
				}
			}
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: sh.Name, Incarnation: "1", Load: report}))
		}
		r.carry()
	}
}

func (r *rig) why(slice uint64) mapper.Story {
	r.t.Helper()
	s, err := r.m.Why(r.now, slice)
	r.must(err)
	return s
}

func says(t *testing.T, s mapper.Story, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.String(), text) {
			t.Errorf("not said: %q, but:\n%s", text, s)
		}
	}
}

// TestWhy asks for slices that moved, that did not, and that cannot be helped.
func TestWhy(t *testing.T) {
	r, w := newWants(t, nil, "a", "b")
	if _, err := r.m.Why(r.now, 99); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	first, hot := r.slice(0).ID, r.slice(5)
	item := rigKey(170)
	if item < hot.Lo || item > hot.Hi {
		t.Fatalf("%x is not in %+v", uint64(item), hot)
	}
	r.loaded(map[uint64]uint64{first: 30, r.slice(2).ID: 30, hot.ID: 200}, map[balance.Key]uint64{item: 190})
	w.ops = []balance.Op{{Kind: balance.OpStart, Slice: first, Shard: 2}}
	r.pass(rigInterval)
	s := r.why(first)
	says(t, s, "it moves from a to b (copying", "wants: the test wants it", "it waits for b to get all items", "of its load")
	if s.Move == nil || !s.Measured || s.Load < 25e3 || s.Load > 35e3 || s.OfShard < 0.9 || s.Items != 31 {
		t.Errorf("%+v", s)
	}
	r.ackAll()
	says(t, r.why(first), "certificates of both copies")
	r.through()
	says(t, r.why(first), "begins to move from a to b: wants: the test wants it", "is served by b from view 2 on", "has left a for b",
		"it may not go to a: it left it when it moved to b")

	// A slice that did not move.
	r.pass(3 * rigInterval)
	says(t, r.why(3), "wants left it: it is where it should be", "times)", "all is well")

	// A slice that cannot be helped.
	s = r.why(hot.ID)
	says(t, s, "not movable: ad group", "x the mean of a shard")
	if s.Hot != item || s.HotOverMean < 1.3 || s.Bound.MaxOverMean < 1.3 {
		t.Errorf("%+v", s)
	}

	// A slice whose proposal was refused.
	w.ops = []balance.Op{{Kind: balance.OpStart, Slice: first, Shard: 1}}
	r.pass(rigInterval)
	says(t, r.why(first), "which was refused", "stays away")

	// A slice that no longer exists.
	e := r.m.Model().Edit()
	r.must(e.Merge(first, 2))
	w.ops = e.Ops()
	r.pass(rigInterval)
	if _, err := r.m.Why(r.now, 2); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "merged into slice 1") {
		t.Errorf("%v", err)
	}
}

// TestWhyOnALostShard: the story of a lost shard's slices says how long it has been lost and
// what will happen to them, by evacuate-after, pause and drain.
func TestWhyOnALostShard(t *testing.T) {
	away := func(r *rig) mapper.Away {
		t.Helper()
		s := r.why(r.slice(0).ID)
		if s.Shard != "a" || s.Away == nil {
			t.Fatalf("on %s: %+v", s.Shard, s.Away)
		}
		says(t, s, "a is lost: not heard from for", "answers lack the slice")
		return *s.Away
	}
	lose := func(after time.Duration) *rig {
		r := newRig(t, 8, func(c *cluster.Config) { c.EvacuateAfter = after }, "a", "b")
		r.cfg.EvacuateAfter = after
		r.through()
		if s := r.why(r.slice(0).ID); s.Away != nil {
			t.Fatalf("alive, yet %+v", *s.Away)
		}
		r.mute["a"] = true
		r.pass(20 * time.Second)
		return r
	}
	r := lose(time.Minute)
	if v := away(r); v.Fate != mapper.Later || v.For < 19*time.Second || v.For+v.In != time.Minute {
		t.Errorf("%+v", v)
	}
	r.m.Pause(true)
	if v := away(r); v.Fate != mapper.Paused {
		t.Errorf("paused: %+v", v)
	}
	if v := away(lose(0)); v.Fate != mapper.Stay {
		t.Errorf("never: %+v", v)
	}
	r = lose(time.Minute)
	r.pass(time.Minute)
	if s := r.why(r.slice(0).ID); s.Shard == "a" && (s.Away == nil || s.Away.Fate != mapper.Now) {
		t.Errorf("past it: %+v", s.Away)
	}
}

// TestMemoryIsBounded: the mapper remembers five decisions on each of the newest 10,000 slices.
func TestMemoryIsBounded(t *testing.T) {
	r, w := newWants(t, nil, "a", "b")
	for i := range 20 {
		r.must(r.m.Move(r.now, r.slice(0).ID, []string{"b", "a"}[i%2]))
		r.carry()
		r.through()
	}
	if n := len(r.why(r.slice(0).ID).Decisions); n != 5 {
		t.Errorf("%d decisions", n)
	}
	first := r.slice(0).ID
	e := r.m.Model().Edit()
	last := r.slice(7).ID
	for i := range balance.Key(10_001) {
		next, err := e.Split(last, r.slice(7).Lo+i+1)
		r.must(err)
		last = next
	}
	w.ops = e.Ops()
	r.pass(rigInterval)
	if n := len(r.m.Model().Slices()); n != 10_009 {
		t.Fatalf("%d slices", n)
	}
	if n := len(r.why(first).Decisions); n != 0 {
		t.Errorf("%d decisions are remembered of an old slice", n)
	}
	if n := len(r.why(last).Decisions); n != 1 {
		t.Errorf("%d decisions of a new one", n)
	}
}

// TestLoadsThatAreNonsense: impossible loads are ignored and counted.
func TestLoadsThatAreNonsense(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b")
	s := r.slice(0)
	number := uint64(0)
	report := func(change func(*load.Report)) {
		number++
		l := &load.Report{Incarnation: "1", Number: number, Interval: time.Second, Slices: []load.SliceCost{
			{Slice: s.ID, Generation: s.Generation, Cost: load.Cost{Micros: 1000}},
		}}
		change(l)
		r.now += time.Second
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "a", Incarnation: "1", Load: l}))
		r.carry()
	}
	report(func(*load.Report) {})
	for _, bad := range []func(*load.Report){
		func(l *load.Report) { l.Slices[0].Micros = 1e18 },
		func(l *load.Report) { l.Interval = -time.Second },
		func(l *load.Report) { l.Number = 1 },
		func(l *load.Report) { l.Slices[0].Generation-- },
		func(l *load.Report) { l.Slices[0].Slice = 77 },
	} {
		report(bad)
	}
	sum := uint64(0)
	status := r.m.Status(r.now)
	for _, n := range status.IgnoredLoads {
		sum += n
	}
	if sum != 5 {
		t.Errorf("%v", status.IgnoredLoads)
	}
	if l := status.Shards[0].Load; l <= 0 || l > 1e4 || !status.Measured {
		t.Errorf("load %v", l)
	}
}

// TestReportsOfStrangers: the report of an unknown slave is refused; it must first say what it
// holds.
func TestReportsOfStrangers(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b")
	if err := r.m.Report(r.now, mapper.SlaveReport{Name: "x"}); !fault.Is(err, fault.Stale) {
		t.Errorf("%v", err)
	}
	r.cfg.Epoch++
	r.start()
	if err := r.m.Report(r.now, mapper.SlaveReport{Name: "a"}); !fault.Is(err, fault.Stale) {
		t.Errorf("%v", err)
	}
	bad := balance.Table{Slices: []balance.Held{{ID: 1, Lo: 5, Hi: 4}}}
	if err := r.m.Report(r.now, mapper.SlaveReport{Name: "a", Table: &bad}); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}

// TestFloor: a mapper that returns issues no quantum with a clock that a distributor has
// already passed.
func TestFloor(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b")
	if q, ok := r.m.Reinit(); !ok || q.Model != r.m.Model() || q.Number == 0 || q.Clock != r.clock || q.View != 1 {
		t.Fatalf("%+v", q)
	}
	r.m.Floor(r.clock + 2)
	r.quanta = nil
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.pass(time.Second)
	if _, ok := r.m.Reinit(); ok || len(r.quanta) != 0 {
		t.Fatalf("below the floor: %+v", r.quanta)
	}
	for range 2 {
		r.clock++
		r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(1)}})
		r.carry()
	}
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	for _, q := range r.quanta {
		if q.Clock < r.clock {
			t.Errorf("%+v", q)
		}
	}
	if q, ok := r.m.Reinit(); !ok || q.Clock != r.clock {
		t.Errorf("%+v %v", q, ok)
	}
}

// TestTheSameInputGivesTheSameOutput: the same input gives the same output, whatever the
// iteration order of maps.
func TestTheSameInputGivesTheSameOutput(t *testing.T) {
	play := func() string {
		r, w := newWants(t, func(c *cluster.Config) { c.EvacuateAfter = time.Minute }, "a", "b", "c")
		r.m.Master(r.now, "m1", 1, 0)
		w.ops = []balance.Op{
			{Kind: balance.OpStart, Slice: r.slice(0).ID, Shard: 2}, {Kind: balance.OpStart, Slice: r.slice(1).ID, Shard: 3},
			{Kind: balance.OpStart, Slice: r.slice(2).ID, Shard: 1}, {Kind: balance.OpStart, Slice: r.slice(3).ID, Shard: 2},
		}
		r.pass(rigInterval)
		r.must(r.m.Drain(r.now, "c"))
		r.through()
		r.mute["b"] = true
		r.pass(2 * time.Minute)
		r.through()
		for _, q := range r.quanta {
			if len(q.Ops) > 0 {
				r.events = append(r.events, fmt.Sprint(q.Number, q.Clock, q.View, q.Ops))
			}
		}
		return fmt.Sprint(strings.Join(r.events, "\n"), r.state)
	}
	if a, b := play(), play(); a != b {
		t.Errorf("once:\n%s\nand again:\n%s", a, b)
	}
}
