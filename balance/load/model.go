package load

import (
	"adshard/balance"
)

// Model updates the table after a change of the model. If slices are split, their load
// is divided by hot items and weight; if slices are merged, their loads are added up. A
// slice that is switched keeps its load until the new shard reports.
func (t *Table) Model(m *balance.Model, items balance.Items) {
	t.items = items
	if m == t.m {
		return
	}
	for _, s := range t.order {
		t.settle(s, t.exposed(s.Shard))
	}
	c := cutter{t: t, from: t.order, to: m.Slices()}
	order := make([]*sliceLoad, len(c.to))
	byID := make(map[uint64]*sliceLoad, len(c.to))
	for i, s := range c.to {
		order[i] = t.carry(&c, i, s)
		byID[s.ID] = order[i]
	}
	t.m, t.order, t.byID, t.last = m, order, byID, nil
}

// carry returns the slice's state after a change of the model.
func (t *Table) carry(c *cutter, i int, s balance.Slice) *sliceLoad {
	old := t.byID[s.ID]
	if old != nil && old.Slice == s {
		return old
	}
	out := &sliceLoad{Slice: s}
	if old != nil && old.Lo == s.Lo && old.Hi == s.Hi {
		out.average, out.split = old.average, old.split
	} else {
		out.average = c.gather(i)
	}
	if old == nil || old.Lo != s.Lo || old.Hi != s.Hi || old.Shard != s.Shard {
		out.seen = min(out.seen, t.halfLife/4) // so that new measurements soon outweigh it
	}
	out.at = t.exposed(s.Shard)
	out.waits, out.quiet = true, out.at+switchOver.Seconds()
	return out
}

func (t *Table) exposed(shard balance.ShardID) float64 {
	if n := t.shards[shard]; n != nil {
		return n.exposed
	}
	return 0
}

// cutter distributes the loads of the old slices over the slices of a new model, from
// left to right.
type cutter struct {
	t      *Table
	from   []*sliceLoad
	to     []balance.Slice
	j      int // index of the first old slice that may still matter
	open   int // 1 + index of the old slice for which shares was computed
	first  int // index of the new slice of shares[0]
	shares []float64
}

// gather returns the average of the new slice i.
func (c *cutter) gather(i int) average {
	s := c.to[i]
	var sum average
	measured := false
	for c.j < len(c.from) && c.from[c.j].Hi < s.Lo {
		c.j++
	}
	for j := c.j; j < len(c.from) && c.from[j].Lo <= s.Hi; j++ {
		o := c.from[j]
		if o.Lo >= s.Lo && o.Hi <= s.Hi {
			sum.rate += o.rate
		} else {
			sum.rate += o.rate * c.share(j, i)
		}
		if !measured || o.seen < sum.seen {
			sum.seen = o.seen
		}
		measured = true
	}
	return sum
}

// share returns the share of the load of the old slice j that lies in the new slice i.
func (c *cutter) share(j, i int) float64 {
	if c.open != j+1 {
		c.cut(j, i)
	}
	return c.shares[i-c.first]
}

// cut distributes the load of the old slice j, which begins in the new slice i or
// before it: the load of its hot items, and the rest by weight, or by width if it has
// no items.
func (c *cutter) cut(j, i int) {
	o := c.from[j]
	for i > 0 && c.to[i].Lo > o.Lo {
		i--
	}
	n := i
	for n < len(c.to) && c.to[n].Lo <= o.Hi {
		n++
	}
	hot, rest := c.weigh(o, c.to[i:n])
	hotSum, restSum := sumOf(hot), sumOf(rest)
	hotPart := 1.0 // share of the slice's load that its hot items have
	if restSum > 0 {
		hotPart = 0
		if o.rate > 0 {
			hotPart = min(1, hotSum/o.rate)
		}
	}
	c.open, c.first, c.shares = j+1, i, c.shares[:0]
	for k := range hot {
		var share float64
		if hotSum > 0 {
			share += hotPart * hot[k] / hotSum
		}
		if restSum > 0 {
			share += (1 - hotPart) * rest[k] / restSum
		}
		c.shares = append(c.shares, share)
	}
}

// weigh returns the parts of an old slice that lie in each of some new ones: the load
// of its hot items, and the expected load of the other items, or the width if it has no
// items.
func (c *cutter) weigh(o *sliceLoad, to []balance.Slice) (hot, rest []float64) {
	hot, rest = make([]float64, len(to)), make([]float64, len(to))
	right := make([]float64, len(to)) // the part of rest to the right of the split key
	at, items, h := 0, 0, halvesOf(o.Slice, o.split)
	if c.t.items != nil {
		c.t.items.Ascend(o.Lo, o.Hi, func(k balance.Key, w uint32) bool {
			for to[at].Hi < k {
				at++
			}
			side := h.side(k)
			if v, ok := c.t.hot.all[k]; ok && v.rate > 0 {
				hot[at] += v.rate * v.sure()
				h.hot[side] += v.rate * v.sure()
			} else {
				rest[at] += float64(1-side) * itemWeight(w)
				right[at] += float64(side) * itemWeight(w)
				h.rest[side] += itemWeight(w)
			}
			items++
			return true
		})
	}
	each := h.perWeight(max(o.rate, h.hot[0]+h.hot[1]))
	for k := range to {
		rest[k] = rest[k]*each[0] + right[k]*each[1]
		if items == 0 {
			rest[k] = float64(min(to[k].Hi, o.Hi)-max(to[k].Lo, o.Lo)) + 1
		}
	}
	return hot, rest
}

func sumOf(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// itemWeight returns the weight of an item for distributing a slice's load. It is at
// least 1.
func itemWeight(w uint32) float64 { return float64(max(1, w)) }
