package load

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
)

// loadWorld is a table over some shards, with items 1 to 100 (by hash) of weight 1.
type loadWorld struct {
	t      testing.TB
	items  *balance.Index
	m      *balance.Model
	table  *Table
	number map[balance.ShardID]uint64
}

func newLoadWorld(t testing.TB, shards int) *loadWorld {
	w := &loadWorld{t: t, items: &balance.Index{}, number: map[balance.ShardID]uint64{}}
	for i := range uint64(100) {
		k, _ := balance.ByHash.Key(1, i+1)
		w.items.Put(k, 1)
	}
	var list []balance.Shard
	for i := range shards {
		list = append(list, balance.Shard{Name: string(rune('a' + i))})
	}
	base, err := balance.NewModel(list)
	if err != nil {
		t.Fatal(err)
	}
	w.table = NewTable(Weights{Examined: 1}, 10*time.Second)
	w.m = base
	w.edit(func(e *balance.Edit) {
		at := uint64(1)
		for i := range shards - 1 {
			right, _ := e.Split(at, balance.MaxKey/balance.Key(shards)*balance.Key(i+1))
			_ = e.Map(right, balance.ShardID(i+2))
			at = right
		}
	})
	return w
}

func (w *loadWorld) edit(do func(*balance.Edit)) {
	w.t.Helper()
	e := w.m.Edit()
	do(e)
	m, err := e.Model()
	if err != nil {
		w.t.Fatal(err)
	}
	w.m = m
	w.table.Model(m, w.items)
}

// report makes a shard report postings examined per second in its slices, over some
// seconds.
func (w *loadWorld) report(shard balance.ShardID, seconds int, rates map[uint64]uint64, items map[balance.Key]uint64) string {
	w.number[shard]++
	r := &Report{Incarnation: "x", Number: w.number[shard], Interval: time.Duration(seconds) * time.Second}
	for _, s := range w.m.Slices() {
		if v, ok := rates[s.ID]; ok {
			r.Slices = append(r.Slices, SliceCost{Slice: s.ID, Generation: s.Generation, Cost: Cost{Examined: v * uint64(seconds)}})
		}
	}
	w.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		if v, ok := items[k]; ok {
			r.Items = append(r.Items, ItemCost{k, Cost{Examined: v * uint64(seconds)}})
		}
		return true
	})
	return w.table.Report(0, shard, w.m, r)
}

func (w *loadWorld) load(slice uint64) float64 { return w.table.At(0, w.m, w.items).Slice(slice) }

func (w *loadWorld) near(slice uint64, want float64) {
	w.t.Helper()
	if got := w.load(slice); math.Abs(got-want) > 0.02*want+1e-6 {
		w.t.Errorf("slice %d has load %v, want about %v", slice, got, want)
	}
}

func TestLoadDecaysByHalfLife(t *testing.T) {
	w := newLoadWorld(t, 2)
	for range 100 {
		w.report(1, 1, map[uint64]uint64{1: 1000}, nil)
	}
	w.near(1, 1000)
	w.report(1, 10, nil, nil)
	w.near(1, 500)
	w.report(1, 10, map[uint64]uint64{1: 1000}, nil)
	w.near(1, 750)
}

func TestLoadBeforeTheFirstReport(t *testing.T) {
	w := newLoadWorld(t, 2)
	if w.table.At(0, w.m, w.items).Measured() {
		t.Error("measured before any report")
	}
	w.report(1, 1, map[uint64]uint64{1: 600}, nil)
	w.near(1, 600) // at once, not rising from zero
	all := OfSlices(balance.Input{Model: w.m, Items: w.items})
	w.near(2, 600*float64(all[1].Items)/float64(all[0].Items)) // by weight
	w.report(2, 20, nil, nil)
	w.near(2, 0)
}

// TestLoadIsShared: whatever is split and merged, the sum of loads stays the same, and
// each hot item keeps its load.
func TestLoadIsShared(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newLoadWorld(t, 1)
		var keys []balance.Key
		w.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { keys = append(keys, k); return true })
		hot := keys[rapid.IntRange(0, len(keys)-1).Draw(rt, "hot")]
		for range 50 {
			w.report(1, 1, map[uint64]uint64{1: 1000}, map[balance.Key]uint64{hot: 700})
		}
		for range rapid.IntRange(1, 8).Draw(rt, "edits") {
			w.edit(func(e *balance.Edit) {
				for range rapid.IntRange(1, 4).Draw(rt, "ops") {
					s := rapid.SampledFrom(w.m.Slices()).Draw(rt, "slice")
					at := rapid.SampledFrom(keys).Draw(rt, "at")
					_, _ = e.Split(s.ID, at) // the key may be in another slice, or refused
					all := w.m.Slices()
					if i := rapid.IntRange(0, len(all)-1).Draw(rt, "merge"); i > 0 {
						_ = e.Merge(all[i-1].ID, all[i].ID)
					}
				}
			})
			l := w.table.At(0, w.m, w.items)
			var sum float64
			for i, s := range w.m.Slices() {
				want := 300 * float64(OfSlices(balance.Input{Model: w.m, Items: w.items})[i].Items) / 99
				if s.Lo <= hot && hot <= s.Hi {
					want += 700 - 300.0/99
				}
				if got := l.Slice(s.ID); math.Abs(got-want) > 1+0.02*want {
					rt.Fatalf("slice %x to %x has %v, want %v", s.Lo, s.Hi, got, want)
				}
				sum += l.Slice(s.ID)
			}
			if math.Abs(sum-1000) > 1e-6 {
				rt.Fatalf("the sum is %v", sum)
			}
		}
	})
}

func TestReportsIgnored(t *testing.T) {
	w := newLoadWorld(t, 2)
	good := func(number uint64) *Report {
		return &Report{Incarnation: "x", Number: number, Interval: time.Second,
			Slices: []SliceCost{{Slice: 1, Generation: w.m.Slices()[0].Generation, Cost: Cost{Examined: 100}}}}
	}
	if why := w.table.Report(0, 1, w.m, good(5)); why != "" {
		t.Fatal(why)
	}
	other := good(9)
	other.Incarnation = "y"
	for _, c := range []struct {
		why    string
		shard  balance.ShardID
		change func(*Report)
	}{
		{"doubled", 1, func(r *Report) { r.Number = 5 }},
		{"late", 1, func(r *Report) { r.Number = 4 }},
		{"unknown shard", 7, func(*Report) {}},
		{"absurd", 1, func(r *Report) { r.Interval = 0 }},
		{"absurd", 1, func(r *Report) { r.Interval = -time.Second }},
		{"absurd", 1, func(r *Report) { r.Interval = 1 << 62 }},
		{"absurd", 1, func(r *Report) { r.Slices[0].Examined = 1e18 }},
		{"absurd", 1, func(r *Report) { r.Slices[0].Matched = 1<<64 - 1 }},
		{"absurd", 1, func(r *Report) { r.Slices[0].Micros = 1e6*1024 + 1 }},
		{"absurd", 1, func(r *Report) { r.Items = []ItemCost{{1, Cost{Micros: 1e18}}} }},
		{"absurd", 1, func(r *Report) { r.Topics = []TopicCost{{1, Cost{Examined: 1e18}}} }},
		{"absurd", 1, func(r *Report) { r.Queries = 1e18 }},
	} {
		r := good(6)
		c.change(r)
		before := w.table.Ignored()[c.why]
		if why := w.table.Report(0, c.shard, w.m, r); why != c.why || w.table.Ignored()[c.why] != before+1 {
			t.Errorf("want %s: %q, %v", c.why, why, w.table.Ignored())
		}
		w.near(1, 100)
	}
	for _, c := range []struct {
		why string
		SliceCost
	}{
		{"unknown slice", SliceCost{Slice: 99, Generation: 1, Cost: Cost{Examined: 1e6}}},
		{"another generation", SliceCost{Slice: 1, Generation: 77, Cost: Cost{Examined: 1e6}}},
		{"slice served elsewhere", SliceCost{Slice: 2, Generation: w.m.Slices()[1].Generation, Cost: Cost{Examined: 1e6}}},
	} {
		r := good(w.table.shards[1].of("").number + 1)
		r.Slices = append(r.Slices, c.SliceCost)
		if why := w.table.Report(0, 1, w.m, r); why != "" || w.table.Ignored()[c.why] != 1 {
			t.Errorf("%s: %q, %v", c.why, why, w.table.Ignored())
		}
		w.near(1, 100)
	}
	if why := w.table.Report(0, 1, w.m, other); why != "" {
		t.Errorf("a new incarnation: %q", why)
	}
	if why := w.table.Report(0, 1, w.m, good(50)); why != "late" {
		t.Errorf("an old incarnation: %q", why)
	}
}

// TestOldGenerationIsNotNought: as long as the shard does not know the model's newest
// generation of a slice, the slice keeps its load.
func TestOldGenerationIsNotNought(t *testing.T) {
	w := newLoadWorld(t, 2)
	for range 50 {
		w.report(1, 1, map[uint64]uint64{1: 1000}, nil)
	}
	old := w.m
	var right uint64
	w.edit(func(e *balance.Edit) { right, _ = e.Split(1, balance.MaxKey/4) })
	before := w.load(1)
	for range 3 {
		w.number[1]++
		w.table.Report(0, 1, w.m, &Report{Incarnation: "x", Number: w.number[1], Interval: time.Second,
			Slices: []SliceCost{{Slice: 1, Generation: old.Slices()[0].Generation, Cost: Cost{Examined: 1000}}}})
	}
	w.near(1, before)
	w.near(right, 1000-before)
	for range 30 {
		w.report(1, 1, map[uint64]uint64{1: 10, right: 2000}, nil)
	}
	if w.load(1) > 100 || w.load(right) < 1800 {
		t.Errorf("%v and %v after half a minute", w.load(1), w.load(right))
	}
}

func TestTopicsAndBounds(t *testing.T) {
	w := newLoadWorld(t, 1)
	for n := range uint64(100) {
		r := &Report{Incarnation: "x", Number: n + 1, Interval: time.Second}
		for i := range uint64(100) {
			r.Topics = append(r.Topics, TopicCost{i*n + 1000, Cost{Examined: i}})
			r.Items = append(r.Items, ItemCost{balance.Key(i*n + 1000), Cost{Examined: i}})
		}
		r.Topics = append(r.Topics, TopicCost{7, Cost{Examined: 5000}})
		if why := w.table.Report(0, 1, w.m, r); why != "" {
			t.Fatal(why)
		}
	}
	if got := w.table.Topics(1, 3); len(got) != 3 || got[0].Term != 7 || math.Abs(got[0].Load-5000) > 50 {
		t.Errorf("%v", got)
	}
	if n := len(w.table.shards[1].topics.all); n > MaxTopics*5/4 {
		t.Errorf("%d topics", n)
	}
	if w.table.Topics(9, 3) != nil {
		t.Error("topics of an unknown shard")
	}
}

// TestLoadOfAMove: the cost of a slice is counted where it is served. While masters
// switch, the slice keeps its load, and residue is never counted.
func TestLoadOfAMove(t *testing.T) {
	w := newLoadWorld(t, 2)
	hot := w.firstKey()
	costs := map[uint64]uint64{1: 1000}
	items := map[balance.Key]uint64{hot: 400}
	reports := func(n int, shard balance.ShardID) {
		for range n {
			w.report(shard, 1, costs, items)
		}
	}
	reports(50, 1)
	w.edit(func(e *balance.Edit) { _ = e.Start(1, 2) })
	reports(20, 1)
	w.near(1, 1000)
	before := w.table.Ignored()["slice served elsewhere"]
	reports(3, 2) // the slice is not served there yet
	if got := w.table.Ignored()["slice served elsewhere"]; got != before+3 {
		t.Errorf("%d ignored", got)
	}
	w.near(1, 1000)

	w.edit(func(e *balance.Edit) { _ = e.Switch(1) })
	costs[1], items[hot] = 500, 200 // half of the masters ask here, the other half there
	reports(20, 1)
	reports(20, 2)
	w.near(1, 1000)
	w.edit(func(e *balance.Edit) { _ = e.Finish(1) })
	costs[1], items[hot] = 2000, 900
	before = w.table.Ignored()["slice served elsewhere"]
	reports(5, 1) // only residue
	if got := w.table.Ignored()["slice served elsewhere"]; got != before+5 {
		t.Errorf("%d ignored", got)
	}
	w.near(1, 1000)
	reports(60, 2)
	w.near(1, 2000)
	var load float64
	w.table.At(0, w.m, w.items).Hot(hot, hot, func(_ balance.Key, l float64) bool { load = l; return true })
	if math.Abs(load-900) > 30 {
		t.Errorf("the hot item has %v", load)
	}
}

func (w *loadWorld) firstKey() (first balance.Key) {
	w.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { first = k; return false })
	return first
}

// TestSilentShardKeepsItsLoad: a lost shard reports nothing; its slices keep their loads.
func TestSilentShardKeepsItsLoad(t *testing.T) {
	w := newLoadWorld(t, 2)
	for range 30 {
		w.report(1, 1, map[uint64]uint64{1: 1000}, nil)
		w.report(2, 1, map[uint64]uint64{2: 500}, nil)
	}
	for range 100 {
		w.report(2, 1, map[uint64]uint64{2: 500}, nil)
	}
	w.near(1, 1000)
	w.near(2, 500)
}

// BenchmarkLoadTable has 100,000 slices on 1,000 shards with 65,536 hot items.
func BenchmarkLoadTable(b *testing.B) {
	const shards, perShard = 1000, 100
	var list []balance.Shard
	for i := range shards {
		list = append(list, balance.Shard{Name: fmt.Sprint(i)})
	}
	base, err := balance.NewModel(list)
	if err != nil {
		b.Fatal(err)
	}
	e, last := base.Edit(), uint64(1)
	for i := range shards * perShard {
		if i > 0 {
			last, _ = e.Split(last, balance.MaxKey/(shards*perShard)*balance.Key(i))
		}
		_ = e.Map(last, balance.ShardID(i%shards+1))
	}
	m, err := e.Model()
	if err != nil {
		b.Fatal(err)
	}
	items := &balance.Index{}
	reports := make([]Report, shards)
	for i, s := range m.Slices() {
		r := &reports[s.Shard-1]
		r.Slices = append(r.Slices, SliceCost{Slice: s.ID, Generation: s.Generation, Cost: Cost{Examined: uint64(i)}})
		k := s.Lo + 1
		items.Put(k, 1)
		if i < MaxHot {
			r.Items = append(r.Items, ItemCost{k, Cost{Examined: uint64(i)}})
		}
	}
	t := NewTable(Weights{Examined: 1}, 0)
	t.Model(m, items)
	number := uint64(0)
	round := func() {
		number++
		for i := range reports {
			reports[i].Number, reports[i].Interval = number, time.Second
			if why := t.Report(0, balance.ShardID(i+1), m, &reports[i]); why != "" {
				b.Fatal(why)
			}
		}
	}
	round()
	b.Run("report", func(b *testing.B) { // reports of all 1,000 shards
		b.ReportAllocs()
		for b.Loop() {
			round()
		}
	})
	b.Run("at", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t.At(0, m, items)
		}
	})
	b.Run("model", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e := m.Edit()
			_, _ = e.Split(7, m.Slices()[6].Lo+9)
			next, _ := e.Model()
			t.Model(next, items)
		}
	})
}
