package strategy_test

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/plan"
	"adshard/balance/strategy"
	"adshard/fault"
)

// shards returns n named shards.
func shards(n int) (list []balance.Shard) {
	for i := range n {
		list = append(list, balance.Shard{Name: fmt.Sprint("n", i)})
	}
	return list
}

// index returns an index of owners with the given weights, each with one to
// three items.
func index(t testing.TB, order balance.Order, weights []uint32) *balance.Index {
	t.Helper()
	x, item := &balance.Index{}, uint64(0)
	for i, w := range weights {
		for part := range uint32(i%3) + 1 {
			item++
			k, err := order.Key(uint64(i+1), item)
			if err != nil {
				t.Fatal(err)
			}
			share := w / 3
			if part == 0 {
				share = w - w/3*uint32(i%3)
			}
			x.Put(k, share)
		}
	}
	return x
}

// TestOriginalKeepsOwnersWhole: the plan tiles the ring, no owner is split, and
// the heaviest shard is within Graham's bound of the optimum.
func TestOriginalKeepsOwnersWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "shards")
		weights := rapid.SliceOfN(rapid.Uint32Range(1, 100), 1, 9).Draw(rt, "weights")
		items := index(t, balance.ByOwner, weights)
		m, p, err := plan.Initial(strategy.Original{}, balance.ByOwner, shards(n), items, nil)
		if err != nil {
			rt.Fatal(err)
		}
		again, _, _ := plan.Initial(strategy.Original{}, balance.ByOwner, shards(n), items, nil)
		if !reflect.DeepEqual(m, again) {
			rt.Fatal("not the same plan again")
		}
		for i := range weights {
			lo, hi, _ := balance.ByOwner.Owner(uint64(i + 1))
			if m.At(lo).ID != m.At(hi).ID {
				rt.Fatalf("owner %d is split", i+1)
			}
		}
		all := m.Slices()
		for i := 1; i < len(all); i++ {
			if all[i].Shard == all[i-1].Shard {
				rt.Fatalf("slices %d and %d could be one", all[i-1].ID, all[i].ID)
			}
		}
		best, got := optimum(weights, n), load.EvennessOfWeights(m, items, nil).Max
		if limit := (4.0/3 - 1/(3*float64(n))) * float64(best); got > limit+1e-9 || got != p.Expected.Max {
			rt.Fatalf("heaviest shard %v (said %v), the best is %d", got, p.Expected.Max, best)
		}
		reasons := 0
		for _, r := range p.Reasons {
			if r.Op >= 0 {
				reasons++
			}
		}
		maps := 0
		for _, o := range p.Ops {
			if o.Kind == balance.OpMap {
				maps++
			}
		}
		if reasons != maps {
			rt.Fatalf("%d reasons for %d operations", reasons, maps)
		}
	})
}

// optimum returns the least weight of the heaviest shard by trying all
// placements.
func optimum(weights []uint32, n int) uint64 {
	loads := make([]uint64, n)
	best := ^uint64(0)
	var try func(i int)
	try = func(i int) {
		if i == len(weights) {
			worst := uint64(0)
			for _, l := range loads {
				worst = max(worst, l)
			}
			best = min(best, worst)
			return
		}
		for j := range loads {
			loads[j] += uint64(weights[i])
			try(i + 1)
			loads[j] -= uint64(weights[i])
			if loads[j] == 0 {
				return // the other empty shards are equivalent
			}
		}
	}
	try(0)
	return best
}

func TestOriginalInOrderHash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "shards")
		count := rapid.SampledFrom([]int{0, 1, 3, 500}).Draw(rt, "items")
		items := &balance.Index{}
		for i := range count {
			k, _ := balance.ByHash.Key(1, uint64(i+1))
			items.Put(k, 1)
		}
		m, p, err := plan.Initial(strategy.Original{}, balance.ByHash, shards(n), items, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if len(m.Slices()) != n {
			rt.Fatalf("%d slices on %d shards", len(m.Slices()), n)
		}
		if count == 500 && p.Expected.Ratio() > 1.02 {
			rt.Fatalf("max/mean %v", p.Expected.Ratio())
		}
		if !strings.Contains(p.Reasons[0].Text, "no whole owners") {
			rt.Fatalf("not said openly: %v", p.Reasons[0])
		}
	})
}

func TestOriginalWithoutItems(t *testing.T) {
	m, p, err := plan.Initial(strategy.Original{}, balance.ByOwner, shards(4), &balance.Index{}, nil)
	if err != nil || len(m.Slices()) != 4 {
		t.Fatalf("%v, %v", m, err)
	}
	for _, s := range m.Slices() {
		if bits.Len64(uint64(s.Hi-s.Lo)) != 62 {
			t.Errorf("slice %+v is not a quarter", s)
		}
	}
	if !strings.Contains(p.Reasons[0].Text, "no items yet") {
		t.Errorf("%v", p.Reasons)
	}
}

func TestOriginalMindsLimits(t *testing.T) {
	items := index(t, balance.ByOwner, []uint32{90, 60, 60, 30, 30, 30})
	limits := map[string]balance.Limit{"n0": {Share: 1, Weight: 60}, "n1": {Share: 4}}
	m, p, err := plan.Initial(strategy.Original{}, balance.ByOwner, shards(2), items, limits)
	if err != nil {
		t.Fatal(err)
	}
	e := load.EvennessOfWeights(m, items, map[balance.ShardID]balance.Limit{1: limits["n0"], 2: limits["n1"]})
	if e.Ratio() > 1.01 || e != p.Expected {
		t.Errorf("max/mean %v, said %v", e, p.Expected)
	}
	_, p, err = plan.Initial(strategy.Original{}, balance.ByOwner, shards(1), items, map[string]balance.Limit{"n0": {Weight: 100}})
	if err != nil || p.Reasons[0].Op != -1 || !strings.Contains(p.Reasons[0].Text, "exceeds the limit of every shard") {
		t.Errorf("%v, %v", p.Reasons, err)
	}
}

func TestNamed(t *testing.T) {
	for _, name := range strategy.Names() {
		if s, err := strategy.Named(name); err != nil || s.Name() != name {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if _, err := strategy.Named("best"); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}

func BenchmarkOriginal100kOwners(b *testing.B) {
	weights := make([]uint32, 100_000)
	for i := range weights {
		weights[i] = uint32(1_000_000/(i+1)) + 1
	}
	items := index(b, balance.ByOwner, weights)
	for b.Loop() {
		_, p, err := plan.Initial(strategy.Original{}, balance.ByOwner, shards(40), items, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(p.Expected.Ratio(), "max/mean")
	}
}
