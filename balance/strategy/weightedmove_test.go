package strategy_test

import (
	"strings"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy"
)

// profiles returns the two profiles of weighted-move.
func profiles(t *testing.T) (list []balance.Strategy) {
	for _, name := range []string{"weighted-move", "weighted-move-fast"} {
		s, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// few makes a loop of `count` equal items, all on the first of n shards, in one slice.
func few(t *testing.T, order balance.Order, n, count int) *loop {
	base, err := balance.NewModel(shards(n))
	if err != nil {
		t.Fatal(err)
	}
	items, loads := &balance.Index{}, map[balance.Key]float64{}
	for i := range count {
		k, err := order.Key(uint64(i/10+1), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		items.Put(k, 1)
		loads[k] = 100
	}
	e := base.Edit()
	l := newLoop(t, model(t, e), items, loads)
	l.order, l.budget = order, 1
	return l
}

func (l *loop) reasons() (text string) {
	for _, r := range l.last.Reasons {
		text += r.Text + "\n"
	}
	return text
}

// TestMoreShardsThanSlices: with one slice on one of ten shards, balancing starts, in
// both orders of keys.
func TestMoreShardsThanSlices(t *testing.T) {
	for _, order := range []balance.Order{balance.ByOwner, balance.ByHash} {
		for _, s := range profiles(t) {
			l := few(t, order, 10, 1000)
			for range 40 {
				l.iterate(s)
			}
			if r := load.Evenness(l.truth()).Ratio(); r > 1.15 {
				t.Errorf("%s, %s: max/mean %v, %s", s.Name(), order, r, l.reasons())
			}
		}
	}
}

// TestOneHugeItem: other items move away from an item that is too large for any shard;
// then the strategy says that nothing more can be done.
func TestOneHugeItem(t *testing.T) {
	for _, s := range profiles(t) {
		l := few(t, balance.ByHash, 4, 400)
		huge, _ := balance.ByHash.Key(1, 77)
		l.loads[huge] = 30_000
		for range 40 {
			l.iterate(s)
		}
		in := l.truth()
		e, bound := load.Evenness(in), load.LowerBound(in)
		if bound.Item != huge || e.Ratio() > 1.05*bound.MaxOverMean {
			t.Errorf("%s: max/mean %v, bound %+v", s.Name(), e.Ratio(), bound)
		}
		if !strings.Contains(l.reasons(), "ad group 77 alone") || !strings.Contains(l.reasons(), "cannot be balanced") {
			t.Errorf("%s says\n%s", s.Name(), l.reasons())
		}
	}
}

// TestWhyNot: if a hot slice is not moved, the strategy says why.
func TestWhyNot(t *testing.T) {
	for _, c := range []struct {
		what, want string
		set        func(in *balance.Input)
	}{
		{"no other shard", "there is no other active shard", func(in *balance.Input) {
			e := in.Model.Edit()
			_ = e.SetState(2, balance.Draining)
			in.Model, _ = e.Model()
		}},
		{"refused", "it came from there a moment ago", func(in *balance.Input) {
			in.May = func(uint64, balance.ShardID) (bool, string) { return false, "it came from there a moment ago" }
		}},
		{"full", "the shards' weight limits leave some shard", func(in *balance.Input) {
			in.Limits = map[balance.ShardID]balance.Limit{2: {Weight: 1}}
		}},
		{"budget", "the iteration's budget is used up", func(in *balance.Input) { in.Budget.Share = 1e-6 }},
	} {
		for _, s := range profiles(t) {
			want := c.want
			l := few(t, balance.ByHash, 2, 50)
			in := l.exact()
			c.set(&in)
			p, err := s.Iterate(in)
			if err != nil {
				t.Fatal(err)
			}
			l.last = p
			if c.what == "no other shard" {
				continue // everything is as well placed as it can be: balanced
			}
			if c.what == "budget" && s.Name() == "weighted-move" {
				want = "as a whole it would gain nothing" // this strategy moves whole slices
			}
			if !strings.Contains(l.reasons(), want) {
				t.Errorf("%s, %s says\n%s", c.what, s.Name(), l.reasons())
			}
		}
	}
}

// TestFallsBackToWeights: without measured load the items' weights are used, and the
// strategy says so.
func TestFallsBackToWeights(t *testing.T) {
	for _, s := range profiles(t) {
		l := few(t, balance.ByHash, 3, 300)
		l.loads = map[balance.Key]float64{}
		for range 20 {
			l.iterate(s)
			if !strings.Contains(l.reasons(), "no load is measured yet; the items' weights are used instead") {
				t.Fatalf("%s says\n%s", s.Name(), l.reasons())
			}
		}
		if r := load.EvennessOfWeights(l.m, l.items, nil).Ratio(); r > 1.15 {
			t.Errorf("%s: max/mean of the weights is %v", s.Name(), r)
		}
	}
}

// TestMerges: cool neighbours merge, even from one shard to another, as long as a shard
// has more slices than it keeps; nothing is lost in the process.
func TestMerges(t *testing.T) {
	s, err := strategy.Named("weighted-move", map[string]string{"merge-above": "4", "merge-share": "0.05", "tolerance": "0.02", "aim": "0.01"})
	if err != nil {
		t.Fatal(err)
	}
	l := few(t, balance.ByHash, 2, 1000)
	var keys []balance.Key
	l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { keys = append(keys, k); return true })
	e, last := l.m.Edit(), uint64(1)
	var odd []uint64
	for i := 1; i < 40; i++ {
		last, _ = e.Split(last, keys[i*25])
		if i%2 == 1 {
			odd = append(odd, last)
		}
	}
	for _, id := range odd {
		_ = e.Start(id, 2)
	}
	l.settle(model(t, e), balance.Proposal{})
	for i, k := range keys {
		l.loads[k] = 1
		if i < 25 {
			l.loads[k] = 1000
		}
	}
	here, moved := 0, 0
	for range 30 {
		l.iterate(s)
		here += strings.Count(l.reasons(), "are cool: together")
		moved += strings.Count(l.reasons(), "is cool and goes to its neighbour")
	}
	if here < 2 || moved < 2 {
		t.Errorf("%d slices, %d merged, %d moved to be merged", len(l.m.Slices()), here, moved)
	}
}

// TestReplication: an item that is too hot for the coolest shard, which has one replica,
// moves to a shard with three replicas, and the strategy says so; without the option it
// stays.
func TestReplication(t *testing.T) {
	for _, name := range []string{"weighted-move", "weighted-move-fast"} {
		for _, replication := range []string{"1", "0"} {
			s, err := strategy.Named(name, map[string]string{"replication": replication})
			if err != nil {
				t.Fatal(err)
			}
			l := few(t, balance.ByHash, 3, 30)
			l.limits = map[balance.ShardID]balance.Limit{1: {Share: 1}, 2: {Share: 1}, 3: {Share: 3}} // by number of replicas
			var keys []balance.Key
			l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool { keys = append(keys, k); return true })
			e := l.m.Edit()
			rest, _ := e.Split(1, keys[1])
			more, _ := e.Split(rest, keys[10])
			_, _ = e.Start(rest, 2), e.Start(more, 3)
			l.settle(model(t, e), balance.Proposal{})
			for i, k := range keys { // shard 1: one item; shard 2: little load; shard 3: more, but less than it can take
				l.loads[k] = map[bool]float64{true: 5, false: 60}[i < 10]
			}
			l.loads[keys[0]] = 2000
			before := load.Evenness(l.truth()).Ratio()
			said := ""
			for range 6 {
				l.iterate(s)
				said += l.reasons()
			}
			after, on := load.Evenness(l.truth()).Ratio(), l.m.At(keys[0]).Shard
			t.Logf("%s, replication %s: max/mean from %.2f to %.2f, on shard %d", name, replication, before, after, on)
			told := strings.Contains(said, "their shares, which grow with their replicas, are 1 and 3")
			if moved := on == 3; moved != (replication == "1") || moved != told || moved && after > before/1.5 {
				t.Errorf("%s, replication %s: from %.2f to %.2f, on shard %d; %s", name, replication, before, after, on, said)
			}
		}
	}
}
