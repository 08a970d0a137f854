package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
)

// placed returns a strategy, and a loop with its first plan for items of equal weight on some
// shards. The loop's moves end at once, and its budget is not limited.
func placed(t *testing.T, name string, options map[string]string, count, itemCount int, limits map[string]balance.Limit) (*loop, balance.Strategy) {
	t.Helper()
	items := &balance.Index{}
	loads := map[balance.Key]float64{}
	for i := range itemCount {
		k, _ := balance.ByHash.Key(1, uint64(i+1))
		items.Put(k, 1)
		loads[k] = 1
	}
	s, err := strategy.Named(name, options)
	if err != nil {
		t.Fatal(err)
	}
	m, p, err := plan.Initial(s, balance.ByHash, shards(count), items, limits)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t, m, items, loads)
	l.budget, l.memory = 1, p.Memory
	return l, s
}

// owners returns the shard of each item.
func (l *loop) owners() map[balance.Key]balance.ShardID {
	out := map[balance.Key]balance.ShardID{}
	l.items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		out[k] = l.m.At(k).Shard
		return true
	})
	return out
}

// rest iterates until a strategy proposes nothing.
func (l *loop) rest(s balance.Strategy) {
	l.t.Helper()
	for range 60 {
		p, err := s.Iterate(l.exact())
		if err != nil {
			l.t.Fatal(err)
		}
		if len(p.Ops) == 0 {
			return
		}
		next, err := l.m.Apply(p.Ops)
		if err != nil {
			l.t.Fatal(err)
		}
		l.memory = p.Memory
		l.settle(next, p)
	}
	l.t.Fatal("no rest")
}

var hashing = []string{"consistent-random", "consistent-equal", "consistent-fixed", "rendezvous", "esdb"}

// TestJoinAndLeave: what moves at a join goes to the new shard, and what moves at a leave comes
// from the leaving shard. This is so within a budget too, and whether the mapper or an
// iteration empties the shard. The new shard gets its share.
func TestJoinAndLeave(t *testing.T) {
	const count, itemCount = 6, 6000
	for _, name := range hashing {
		for _, budget := range []float64{1, 0.03} {
			t.Run(fmt.Sprint(name, " ", budget), func(t *testing.T) {
				l, s := placed(t, name, nil, count, itemCount, nil)
				l.budget = budget
				before := l.owners()
				e := l.m.Edit()
				id, err := e.Join("late", balance.Site{})
				if err != nil {
					t.Fatal(err)
				}
				l.m = model(t, e)
				l.rest(s)
				joined, moved := l.owners(), 0
				for k, shard := range joined {
					if shard != before[k] {
						moved++
						if shard != id {
							t.Fatalf("at a join %x goes from shard %d to shard %d", uint64(k), before[k], shard)
						}
					}
				}
				if part := float64(moved) / itemCount; part < 0.6/(count+1) || part > 1.5/(count+1) {
					t.Errorf("%d of %d items move at a join", moved, itemCount)
				}
				e = l.m.Edit()
				if err := e.SetState(2, balance.Draining); err != nil {
					t.Fatal(err)
				}
				l.m = model(t, e)
				in := l.exact()
				var leaving []balance.Slice
				for _, v := range l.m.Slices() {
					if v.Shard == 2 {
						leaving = append(leaving, v)
					}
				}
				asked := s.(balance.Refuge).Refuges(in, leaving)
				l.rest(s)
				for k, shard := range l.owners() {
					if shard == 2 || shard != joined[k] && joined[k] != 2 {
						t.Fatalf("at a leave %x goes from shard %d to shard %d", uint64(k), joined[k], shard)
					}
				}
				if budget < 1 {
					return // slices are cut in this case
				}
				for i, v := range leaving {
					if shard := l.m.At(v.Hi).Shard; shard != asked[i] {
						t.Fatalf("slice %d was to go to shard %d and is on shard %d", v.ID, asked[i], shard)
					}
				}
			})
		}
	}
}

// TestFixedIsExact: a join moves exactly one shard's share of the ranges.
func TestFixedIsExact(t *testing.T) {
	const ranges, count = 1000, 7
	l, s := placed(t, "consistent-fixed", map[string]string{"ranges": fmt.Sprint(ranges)}, count, 0, nil)
	e := l.m.Edit()
	id, err := e.Join("late", balance.Site{})
	if err != nil {
		t.Fatal(err)
	}
	l.m = model(t, e)
	l.rest(s)
	got := map[balance.ShardID]int{}
	for i := range ranges {
		got[l.m.At(balance.Key(math.MaxUint64/ranges)*balance.Key(i)+1<<40).Shard]++
	}
	for shard, has := range got {
		if has < ranges/(count+1) || has > ranges/count+1 || shard == id && has != ranges/(count+1) {
			t.Errorf("shard %d has %d ranges: %v", shard, has, got)
		}
	}
}

// TestHashingFollowsShares: a shard with share 3 gets three times as much.
func TestHashingFollowsShares(t *testing.T) {
	for _, name := range hashing {
		l, _ := placed(t, name, map[string]string{}, 4, 20_000, map[string]balance.Limit{"n0": {Share: 3}})
		has := 0
		for _, shard := range l.owners() {
			if shard == 1 {
				has++
			}
		}
		if part := float64(has) / 20_000; math.Abs(part-0.5) > 0.07 {
			t.Errorf("%s: a shard of share 3 of 6 has %.3f of all", name, part)
		}
	}
}

// TestTooManyTokens: too many tokens are refused with a text that says what to do.
func TestTooManyTokens(t *testing.T) {
	s, err := strategy.Named("consistent-random")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = plan.Initial(s, balance.ByHash, shards(2), &balance.Index{}, map[string]balance.Limit{"n0": {Share: 1 << 20}})
	if err == nil || fmt.Sprint(err) != "strategy consistent-random: strategy: place tokens: the shards would have 106954854 tokens, at most 250000 are possible: lower the option factor, or the shards' shares" {
		t.Error(err)
	}
}

// TestLoadAwareHashing: with Zipf loads, each load-aware kind ends below plain consistent
// hashing, and Rao's three end in the order of their effort.
func TestLoadAwareHashing(t *testing.T) {
	sum := map[string]float64{}
	for seed := range 3 {
		for _, name := range []string{"consistent-random", "rao-one", "rao-many", "rao-pool", "cassandra", "srinivasan"} {
			l, s := placed(t, name, map[string]string{"seed": fmt.Sprint(seed + 1)}, 10, 5000, nil)
			i := 0
			for k := range 5000 {
				key, _ := balance.ByHash.Key(1, uint64(k+1))
				l.loads[key] = math.Pow(float64(i+1), -0.8)
				i++
			}
			for range 30 {
				in := l.exact()
				in.Iteration = l.iteration
				l.iteration++
				p, err := s.Iterate(in)
				if err != nil {
					t.Fatal(err)
				}
				next, err := l.m.Apply(p.Ops)
				if err != nil {
					t.Fatal(err)
				}
				l.memory = p.Memory
				l.settle(next, p)
			}
			sum[name] += load.Evenness(l.truth()).Ratio() / 3
		}
	}
	t.Log(sum)
	for name, v := range sum {
		if name != "consistent-random" && v > sum["consistent-random"]-0.03 {
			t.Errorf("%s ends at %.3f, consistent-random at %.3f", name, v, sum["consistent-random"])
		}
	}
	if sum["rao-pool"] > sum["rao-many"]+0.01 || sum["rao-many"] > sum["rao-one"]+0.01 {
		t.Errorf("the pool should be the best, and one to one the worst: %v", sum)
	}
}

// TestArrival: a joining shard takes the arcs of its tokens, even if no shard is hot.
func TestArrival(t *testing.T) {
	for _, name := range []string{"rao-pool", "cassandra", "srinivasan"} {
		l, s := placed(t, name, nil, 10, 5000, nil)
		e := l.m.Edit()
		id, err := e.Join("late", balance.Site{})
		if err != nil {
			t.Fatal(err)
		}
		l.m, l.budget = model(t, e), 0.03
		l.rest(s)
		has := 0
		for _, shard := range l.owners() {
			if shard == id {
				has++
			}
		}
		if has < 250 || has > 800 {
			t.Errorf("%s: the new shard has %d of 5000 items", name, has)
		}
	}
}
