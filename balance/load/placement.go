package load

import (
	"adshard/balance"
)

// EvennessOfWeights returns how evenly the weights of items are spread over a model's shards.
func EvennessOfWeights(m *balance.Model, items balance.Items, limits map[balance.ShardID]balance.Limit) balance.Evenness {
	sums := make(map[balance.ShardID]float64, len(m.Shards()))
	all := m.Slices()
	i := 0
	items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for all[i].Hi < k {
			i++
		}
		sums[all[i].Shard] += float64(w)
		return true
	})
	return EvennessOf(m, sums, limits)
}

// Evenness returns how evenly the load is spread, or the items' weights if no load is
// measured. A moving slice counts at its target.
func Evenness(in balance.Input) balance.Evenness {
	return EvennessOf(in.Model, OfShards(in), in.Limits)
}

// EvennessOf returns how evenly loads are spread over those shards of a model that are active
// or have load.
func EvennessOf(m *balance.Model, sums map[balance.ShardID]float64, limits map[balance.ShardID]balance.Limit) balance.Evenness {
	var e balance.Evenness
	var total, shares float64
	for _, sh := range m.Shards() {
		if sh.State != balance.Active && sums[sh.ID] == 0 {
			continue
		}
		share := limits[sh.ID].Strength()
		total += sums[sh.ID]
		shares += share
		if load := sums[sh.ID] / share; load > e.Max || e.Shard == 0 {
			e.Max, e.Shard = load, sh.ID
		}
	}
	if shares > 0 {
		e.Mean = total / shares
	}
	return e
}

// OfShards returns the load of each shard, or the weight of its items if no load is measured.
// A moving slice counts at its target.
func OfShards(in balance.Input) map[balance.ShardID]float64 {
	out := make(map[balance.ShardID]float64, len(in.Model.Shards()))
	for _, sh := range in.Model.Shards() {
		out[sh.ID] = 0
	}
	if in.Measured() {
		for _, s := range in.Model.Slices() {
			out[s.Target()] += in.Loads.Slice(s.ID)
		}
		return out
	}
	for i, s := range OfSlices(in) {
		out[in.Model.Slices()[i].Target()] += s.Load
	}
	return out
}

// SliceSum is the sum of a slice's items. Load is the load per second, or the weight if no
// load is measured.
type SliceSum struct {
	Items  int
	Weight uint64
	Load   float64
}

// OfSlices returns the sum of each of the model's slices.
func OfSlices(in balance.Input) []SliceSum {
	all := in.Model.Slices()
	out := make([]SliceSum, len(all))
	i := 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for all[i].Hi < k {
			i++
		}
		out[i].Items++
		out[i].Weight += uint64(w)
		return true
	})
	measured := in.Measured()
	for i := range out {
		out[i].Load = float64(out[i].Weight)
		if measured {
			out[i].Load = in.Loads.Slice(all[i].ID)
		}
	}
	return out
}

// Item is an item with its expected load.
type Item struct {
	Key    balance.Key
	Weight uint32
	Load   float64
	// Hot is set if the load is measured. Otherwise the load is a share, by weight, of what
	// the hot items leave of the load of the slice or of its half.
	Hot bool
}

// OfItems appends the items of a slice to list, in ascending order of keys. If no load is
// measured, an item's load is its weight.
func OfItems(in balance.Input, s balance.Slice, list []Item) []Item {
	begin := len(list)
	in.Items.Ascend(s.Lo, s.Hi, func(k balance.Key, w uint32) bool {
		list = append(list, Item{Key: k, Weight: w, Load: float64(w)})
		return true
	})
	own := list[begin:]
	if !in.Measured() || len(own) == 0 {
		return list
	}
	i, h := 0, halvesOf(s, splitKey(in, s.ID))
	in.Loads.Hot(s.Lo, s.Hi, func(k balance.Key, load float64) bool {
		for i < len(own) && own[i].Key < k {
			i++
		}
		if i < len(own) && own[i].Key == k {
			own[i].Load, own[i].Hot = load, true
			h.hot[h.side(k)] += load
		}
		return true
	})
	for _, v := range own {
		if !v.Hot {
			h.rest[h.side(v.Key)] += itemWeight(v.Weight)
		}
	}
	load, hot := in.Loads.Slice(s.ID), h.hot[0]+h.hot[1]
	known, each := h.rest == [2]float64{}, h.perWeight(load)
	for i := range own {
		switch v := &own[i]; {
		case !v.Hot:
			v.Load = each[h.side(v.Key)] * itemWeight(v.Weight)
		case known && hot > 0:
			v.Load *= load / hot
		}
	}
	return list
}

// splitKey returns the split key of a slice, or 0 if unknown.
func splitKey(in balance.Input, slice uint64) balance.Key {
	if in.SplitKey == nil {
		return 0
	}
	return in.SplitKey(slice)
}
