package load

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/barrels/certify"
)

// pairs makes a shard report what items cost under terms, over some seconds.
func (w *loadWorld) pairs(shard balance.ShardID, seconds int, list ...PairCost) string {
	w.number[shard]++
	return w.table.Report(0, shard, w.m, &Report{
		Incarnation: "x", Number: w.number[shard], Interval: time.Duration(seconds) * time.Second, Queries: 1, Pairs: list,
	})
}

func under(term uint64, k balance.Key, examined uint64) PairCost {
	return PairCost{Term: term, Key: k, Cost: Cost{Examined: examined}}
}

// keysOf returns the keys of the items of a slice.
func (w *loadWorld) keysOf(s balance.Slice) (out []balance.Key) {
	w.items.Ascend(s.Lo, s.Hi, func(k balance.Key, _ uint32) bool { out = append(out, k); return true })
	return out
}

// TestTopicsAreAveraged: topics are sorted by term, and their items by key. They come from
// all shards, with their mean load, which decays with a half-life. A slave that reports no pairs
// does not reduce those of others.
func TestTopicsAreAveraged(t *testing.T) {
	w := newLoadWorld(t, 2)
	if list := w.table.HotTopics(); len(list) != 0 {
		t.Fatalf("topics before any report: %v", list)
	}
	a, b := w.keysOf(w.m.Slices()[0]), w.keysOf(w.m.Slices()[1])
	for range 50 { // long enough that the averages decay
		w.pairs(1, 60, under(7, a[1], 6000), under(7, a[0], 3000), under(7, a[0], 3000), under(3, a[0], 600)) // one pair occurs twice
		w.pairs(1, 60)
		w.pairs(2, 120, under(7, b[0], 24_000))
	}
	check := func(want []balance.Topic) {
		t.Helper()
		got := w.table.HotTopics()
		same := slices.EqualFunc(got, want, func(x, y balance.Topic) bool {
			return x.Term == y.Term && slices.EqualFunc(x.Items, y.Items, func(u, v balance.TopicItem) bool {
				return u.Key == v.Key && math.Abs(u.Load-v.Load) < 0.05*v.Load
			})
		})
		if !same {
			t.Errorf("got %v\nwant %v", got, want)
		}
	}
	check([]balance.Topic{{Term: 3, Items: []balance.TopicItem{{Key: a[0], Load: 5}}}, {Term: 7, Items: []balance.TopicItem{{Key: a[0], Load: 25}, {Key: a[1], Load: 50}, {Key: b[0], Load: 200}}}})
	if got := w.table.Sampled(); got != 50*2*time.Minute { // shard 2 only; shard 1 reported no pairs half of the time
		t.Errorf("sampled for %v", got)
	}
	for range 100 { // ten minutes without queries for the items on shard 1
		w.report(1, 6, nil, nil)
	}
	check([]balance.Topic{{Term: 3, Items: []balance.TopicItem{{Key: a[0], Load: 2.5}}}, {Term: 7, Items: []balance.TopicItem{{Key: a[0], Load: 12.5}, {Key: a[1], Load: 25}, {Key: b[0], Load: 200}}}})
}

// TestTopicsMove: items that move keep what is known of them, and the shard that they left
// does not reduce it.
func TestTopicsMove(t *testing.T) {
	w := newLoadWorld(t, 2)
	k := w.keysOf(w.m.Slices()[0])[0]
	for range 100 {
		w.pairs(1, 1, under(7, k, 60))
		w.pairs(2, 1)
	}
	w.edit(func(e *balance.Edit) { _ = e.Start(1, 2) })
	w.edit(func(e *balance.Edit) { _ = e.Switch(1) })
	w.pairs(2, 1, under(7, k, 900)) // while masters switch, each shard has only a part of the load
	w.edit(func(e *balance.Edit) { _ = e.Finish(1) })
	w.pairs(1, 100)
	if list := w.table.HotTopics(); len(list) != 1 || math.Abs(list[0].Items[0].Load-60) > 0.5 {
		t.Errorf("%v, want the 60 from before", list)
	}
	if why := w.table.Ignored()["pair served elsewhere"]; why != 0 {
		t.Errorf("%d pairs are ignored", why)
	}
	w.pairs(1, 1, under(7, k, 60))
	if why := w.table.Ignored()["pair served elsewhere"]; why != 1 {
		t.Errorf("a pair of a shard that has nothing to do with it counts")
	}
}

// TestPairsAreBounded: a table takes no more memory if it gets a quarter more pairs than its
// bound.
func TestPairsAreBounded(t *testing.T) {
	before := allocated()
	h := newHitters[pair](MaxPairs, comparePairs)
	for i := range uint64(MaxPairs + MaxPairs/4) {
		h.add(pair{certify.Mix(i), balance.Key(certify.Mix(i + 1))}, 1, float64(i), 1, 1, 1)
	}
	took := allocated() - before
	t.Logf("%d pairs take %.1f MB", len(h.all), float64(took)/1e6)
	if took > 17_000_000 {
		t.Errorf("%d pairs take %d bytes", len(h.all), took)
	}
	runtime.KeepAlive(h)
}

// TestHostilePairs: a report with impossible pairs is refused completely. Hundreds of
// thousands of terms leave the memory bounded, and topics that are constantly asked for stay
// known.
func TestHostilePairs(t *testing.T) {
	w := newLoadWorld(t, 2)
	k := w.keysOf(w.m.Slices()[0])[0]
	for _, c := range []Cost{{Examined: 1 << 62}, {Matched: 1 << 62}, {Micros: 1 << 62}} {
		if why := w.pairs(1, 1, PairCost{Term: 1, Key: k, Cost: c}); why != "absurd" {
			t.Errorf("%v: %q", c, why)
		}
	}
	term := uint64(1000)
	for range 80 {
		list := []PairCost{under(7, k, 32), under(8, k, 32)}
		for range 4000 {
			term++
			list = append(list, under(term, k, 32))
		}
		if why := w.pairs(1, 1, list...); why != "" {
			t.Fatal(why)
		}
	}
	if n := len(w.table.pairs.all); n > MaxPairs+MaxPairs/4 {
		t.Errorf("%d pairs are kept", n)
	}
	list := w.table.HotTopics()
	if len(list) < 2 || list[0].Term != 7 || list[1].Term != 8 || list[0].Items[0].Load < 30 {
		t.Errorf("of what is asked for all the time %v is known", list[:min(2, len(list))])
	}
}

func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
