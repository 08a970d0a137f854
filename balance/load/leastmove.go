package load

import (
	"cmp"
	"slices"

	"adshard/balance"
)

// grain is an item, or the rest of a slice, whose load is spread evenly over its
// weight.
type grain struct{ load, weight float64 }

// grains appends the contents of a slice to list: each item whose load is measured, and
// all others as one grain.
func grains(in balance.Input, s balance.Slice, sum SliceSum, list []grain) []grain {
	if sum.Items == 0 {
		return list
	}
	if !in.Measured() || !anyHot(in, s, 0) {
		return append(list, grain{sum.Load, float64(sum.Weight)})
	}
	var rest grain
	for _, v := range OfItems(in, s, nil) {
		if v.Hot {
			list = append(list, grain{v.Load, float64(v.Weight)})
			continue
		}
		rest.load += v.Load
		rest.weight += float64(v.Weight)
	}
	if rest.weight > 0 {
		list = append(list, rest)
	}
	return list
}

// sortByDensity sorts by load per weight, the greatest first.
func sortByDensity(list []grain) {
	slices.SortFunc(list, func(a, b grain) int { return cmp.Compare(b.load*a.weight, a.load*b.weight) })
}

// mostLoad returns the most load that items of a given weight can have.
func mostLoad(dense []grain, weight float64) (load float64) {
	for _, g := range dense {
		if g.weight > weight {
			return load + g.load*weight/g.weight
		}
		load += g.load
		weight -= g.weight
	}
	return load
}

// leastWeight returns the least weight that items of a given load can have.
func leastWeight(dense []grain, load float64) (weight float64) {
	for _, g := range dense {
		if load <= 0 {
			return weight
		}
		if g.load > load {
			return weight + g.weight*load/g.load
		}
		load -= g.load
		weight += g.weight
	}
	return weight
}

// LeastMove returns the least weight, and its share of all weight, that any plan must
// move to reach these goals: no shard has more than 1+tolerance times the mean for its
// share, or more than the bound if that is greater; draining shards have nothing; and
// no shard weighs more than its limit. From each shard with too much load, it takes the
// items with the most load for their weight, and parts of items if need be. So no plan
// moves less.
func LeastMove(in balance.Input, tolerance float64) (weight uint64, share float64) {
	sums := OfSlices(in)
	bound := lowerBound(in, sums)
	p := newPlacement(in, sums)
	if p.weight == 0 {
		return 0, 0
	}
	type content struct {
		load, weight float64
		dense        []grain
	}
	shards := make(map[balance.ShardID]*content)
	for _, sh := range in.Model.Shards() {
		shards[sh.ID] = &content{}
	}
	for i, s := range in.Model.Slices() {
		h := shards[s.Target()]
		h.load += sums[i].Load
		h.weight += float64(sums[i].Weight)
	}
	target := func(sh balance.Shard) float64 {
		if sh.State != balance.Active || p.shares == 0 {
			return 0
		}
		return max(1+tolerance, bound.MaxOverMean) * p.mean() * in.Limits[sh.ID].Strength()
	}
	for i, s := range in.Model.Slices() {
		sh, _ := in.Model.Shard(s.Target())
		if h := shards[sh.ID]; h.load > target(sh) {
			h.dense = grains(in, s, sums[i], h.dense)
		}
	}
	var least float64
	for _, sh := range in.Model.Shards() {
		h := shards[sh.ID]
		sortByDensity(h.dense)
		away := leastWeight(h.dense, h.load-target(sh))
		if sh.State != balance.Active {
			away = h.weight
		}
		if l := in.Limits[sh.ID].Weight; l > 0 {
			away = max(away, h.weight-float64(l))
		}
		least += away
	}
	return uint64(least), least / p.weight
}
