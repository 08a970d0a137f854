package strategy

import "adshard/balance"

// chunk is a slice, or a run of its items, that may move.
type chunk struct {
	part   int // index of the slice
	lo, hi balance.Key
	balance.SliceSum
	to      int   // index of the node it goes to; -1: it stays
	refused []int // nodes that it may not go to
	why     string
}

// cutNode returns what may move from a node, by rising key.
func (i *iteration) cutNode(node int) (list []chunk) {
	for k := range i.parts {
		p := &i.parts[k]
		if p.at != node || p.gone || p.busy || p.Items == 0 {
			continue
		}
		if i.Grain > 0 && p.Items > 1 && !p.merged && p.Load > i.Gain*i.mean {
			list = i.cut(k, list)
			continue
		}
		list = append(list, chunk{part: k, lo: p.Lo, hi: p.Hi, SliceSum: p.SliceSum, to: -1})
	}
	return list
}

// whole tells whether a piece is its slice.
func (i *iteration) whole(p *chunk) bool {
	return p.lo == i.parts[p.part].Lo && p.hi == i.parts[p.part].Hi
}

// cut cuts a slice into chunks: items of so much load that one is worth a move
// by itself, and in between runs of others of at most Grain.
func (i *iteration) cut(k int, list []chunk) []chunk {
	part := &i.parts[k]
	single, most := i.Gain*i.mean, i.Grain*i.mean
	i.own = balance.ItemLoads(i.in, part.Slice, i.own[:0])
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
