package load

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"adshard/balance"
)

// fixed is a load that does not change.
type fixed struct {
	m    *balance.Model
	list []heavyHitter[balance.Key] // in ascending key order
}

func (f fixed) Slice(id uint64) (sum float64) {
	for _, s := range f.m.Slices() {
		if s.ID == id {
			f.Hot(s.Lo, s.Hi, func(_ balance.Key, load float64) bool { sum += load; return true })
		}
	}
	return sum
}

func (f fixed) Hot(lo, hi balance.Key, visit func(balance.Key, float64) bool) {
	for _, v := range f.list {
		if v.key >= lo && v.key <= hi && !visit(v.key, v.load) {
			return
		}
	}
}

func (fixed) Measured() bool { return true }

// drawInput draws up to 6 items, each with its own slice, on up to 3 shards.
func drawInput(rt *rapid.T, alike bool) balance.Input {
	shards := rapid.IntRange(1, 3).Draw(rt, "shards")
	count := rapid.IntRange(1, 6).Draw(rt, "items")
	if alike {
		count = min(count, shards+1)
	}
	var list []balance.Shard
	for i := range shards {
		list = append(list, balance.Shard{Name: string(rune('a' + i))})
	}
	m, err := balance.NewModel(list)
	if err != nil {
		rt.Fatal(err)
	}
	in := balance.Input{Order: balance.ByHash, Items: &balance.Index{}, Limits: map[balance.ShardID]balance.Limit{}}
	e, last := m.Edit(), uint64(1)
	loads := fixed{}
	for i := range count {
		k := balance.Key(i+1) << 56
		if i > 0 {
			last, _ = e.Split(last, k)
		}
		_ = e.Map(last, balance.ShardID(rapid.IntRange(1, shards).Draw(rt, "shard")))
		in.Items.(*balance.Index).Put(k, rapid.Uint32Range(1, 5).Draw(rt, "weight"))
		loads.list = append(loads.list, heavyHitter[balance.Key]{k, rapid.SampledFrom([]float64{0, 5, 6, 9, 13, 20, 27, 35, 50}).Draw(rt, "load")})
	}
	if !alike {
		for i := range shards {
			in.Limits[balance.ShardID(i+1)] = balance.Limit{
				Share:  rapid.Uint32Range(0, 4).Draw(rt, "share"),
				Weight: rapid.SampledFrom([]uint64{0, 0, 0, 4, 8, 12}).Draw(rt, "limit"),
			}
		}
	}
	if in.Model, err = e.Model(); err != nil {
		rt.Fatal(err)
	}
	loads.m = in.Model
	if rapid.Bool().Draw(rt, "measured") {
		in.Loads = loads
	}
	return in
}

// placements visits every placement of the items; at holds the shard of each.
func placements(in balance.Input, visit func(at []balance.ShardID, items []Item, e balance.Evenness, fits bool)) {
	var items []Item
	for _, s := range in.Model.Slices() {
		items = OfItems(in, s, items)
	}
	shards := in.Model.Shards()
	at := make([]balance.ShardID, len(items))
	var try func(i int)
	try = func(i int) {
		if i < len(items) {
			for _, sh := range shards {
				at[i] = sh.ID
				try(i + 1)
			}
			return
		}
		sums, weights := map[balance.ShardID]float64{}, map[balance.ShardID]uint64{}
		for j, id := range at {
			sums[id] += items[j].Load
			weights[id] += uint64(items[j].Weight)
		}
		fits := true
		for id, w := range weights {
			l := in.Limits[id].Weight
			fits = fits && (l == 0 || w <= l)
		}
		visit(at, items, EvennessOf(in.Model, sums, in.Limits), fits)
	}
	try(0)
}

// TestLowerBound: no placement is better than the bound, and with few items on
// equal shards, one placement reaches it.
func TestLowerBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		alike := rapid.Bool().Draw(rt, "alike")
		in := drawInput(rt, alike)
		b := LowerBound(in)
		best := math.Inf(1)
		placements(in, func(_ []balance.ShardID, _ []Item, e balance.Evenness, fits bool) {
			if fits {
				best = min(best, e.Ratio())
			}
		})
		if b.MaxOverMean > best*(1+1e-9) {
			rt.Fatalf("bound %+v, but %v can be had", b, best)
		}
		if alike && b.MaxOverMean < best*(1-1e-9) {
			rt.Fatalf("bound %+v, the best is %v", b, best)
		}
	})
}

// TestLeastMove tests that no plan that reaches the tolerance moves less.
func TestLeastMove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawInput(rt, false)
		tolerance := rapid.Float64Range(0, 0.5).Draw(rt, "tolerance")
		least, share := LeastMove(in, tolerance)
		want := max(1+tolerance, LowerBound(in).MaxOverMean)
		placements(in, func(at []balance.ShardID, items []Item, e balance.Evenness, fits bool) {
			if !fits || e.Ratio() > want*(1+1e-9) {
				return
			}
			var moved, all uint64
			for i, shard := range at {
				all += uint64(items[i].Weight)
				if in.Model.At(items[i].Key).Shard != shard {
					moved += uint64(items[i].Weight)
				}
			}
			if moved < least || float64(moved) < (share-1e-9)*float64(all) {
				rt.Fatalf("least %d (%v), but %v moves %d of %d", least, share, at, moved, all)
			}
		})
	})
}

func TestOneItemDecides(t *testing.T) {
	in := balance.Input{Order: balance.ByHash, Items: &balance.Index{}}
	var err error
	if in.Model, err = balance.NewModel([]balance.Shard{{Name: "a"}, {Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	k, _ := balance.ByHash.Key(1, 42)
	in.Items.(*balance.Index).Put(k, 85)
	for i := range uint64(15) {
		k, _ := balance.ByHash.Key(1, 100+i)
		in.Items.(*balance.Index).Put(k, 1)
	}
	b := LowerBound(in)
	if b.Item != k || b.Why != "cannot be balanced: ad group 42 alone is 1.7 x the mean" {
		t.Errorf("%+v", b)
	}
	if w, share := LeastMove(in, 0); w != 15 || share != 0.15 {
		t.Errorf("at least %d, %v", w, share)
	}
}
