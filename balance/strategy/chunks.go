package strategy

import (
	"slices"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
)

// chunk is a slice, or a run of its items, that may move.
type chunk struct {
	part   int // index of the slice
	lo, hi balance.Key
	load.SliceSum
	to      int   // index of the shard to which it goes; -1 if it stays
	refused []int // shards to which it may not go
	why     string
}

// mostSingle is the number of single items that are cut out of a shard's slices.
const mostSingle = 128

// cutShard returns the chunks that may move from a shard, in ascending order of keys.
func (i *iteration) cutShard(shard int) (list []chunk) {
	least := i.single(shard)
	for _, k := range i.on[shard] {
		p := &i.Parts[k]
		switch {
		case !i.free(p):
		case i.cuts(p):
			list = i.cut(k, least, list)
		default:
			list = append(list, chunk{part: k, lo: p.Lo, hi: p.Hi, SliceSum: p.SliceSum, to: -1})
		}
	}
	return list
}

// free reports whether a slice, or a part of it, may move. Slices merged in this iteration
// may not.
func (i *iteration) free(p *draft.Part) bool { return !p.Gone && !p.Busy && !p.Merged && p.Items > 0 }

// cuts reports whether a slice is cut before it moves.
func (i *iteration) cuts(p *draft.Part) bool {
	return i.Grain > 0 && p.Items > 1 && p.Load > i.Gain*i.Mean
}

// single returns the load at which an item of a shard becomes a slice of its own. Such
// an item is worth a move, and there are not too many of them.
func (i *iteration) single(shard int) float64 {
	least := i.Gain * i.Mean
	var loads []float64
	for _, k := range i.on[shard] {
		if p := &i.Parts[k]; i.free(p) && i.cuts(p) {
			i.own = load.OfItems(i.In, p.Slice, i.own[:0])
			for _, v := range i.own {
				if v.Load >= least {
					loads = append(loads, v.Load)
				}
			}
		}
	}
	if len(loads) <= mostSingle {
		return least
	}
	slices.Sort(loads)
	return loads[len(loads)-mostSingle]
}

// whole reports whether a chunk is its whole slice.
func (i *iteration) whole(p *chunk) bool {
	return p.lo == i.Parts[p.part].Lo && p.hi == i.Parts[p.part].Hi
}

// cut cuts a slice into chunks: single items with at least the load `single`, and runs of
// the items between them with at most Grain.
func (i *iteration) cut(k int, single float64, list []chunk) []chunk {
	part, most := &i.Parts[k], i.Grain*i.Mean
	i.own = load.OfItems(i.In, part.Slice, i.own[:0])
	closed := true
	for _, v := range i.own {
		n := len(list)
		switch {
		case n == 0 || list[n-1].part != k:
			list = append(list, chunk{part: k, lo: part.Lo, hi: part.Hi, to: -1})
			closed = false
		case closed || v.Load >= single || list[n-1].Load+v.Load > most:
			list[n-1].hi = v.Key - 1
			list = append(list, chunk{part: k, lo: v.Key, hi: part.Hi, to: -1})
			closed = false
		}
		p := &list[len(list)-1]
		p.Items++
		p.Weight += uint64(v.Weight)
		p.Load += v.Load
		closed = closed || v.Load >= single
	}
	return list
}
