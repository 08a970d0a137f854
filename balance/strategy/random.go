package strategy

import (
	"math"
	"sort"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/barrels/certify"
)

const randomName = "random"

// Random is the random balancing of thesis 6.5: every item is a slice of its
// own on a random node. An iteration splits slices of several items and maps
// what it splits off at random, merges slices without items with a neighbour
// on the same node, and sends a node that has come its fair share. It does not
// look at the load. The node drawn depends on the seed, the item's key and the
// nodes' shares only.
//
// With more items than MostSlices a slice holds several, so that the model
// stays small; the thesis knows no such limit.
type Random struct {
	Seed       uint64
	MostSlices int
}

// mostEmpty is how many slices without items are sent to a neighbour's node in
// an iteration.
const mostEmpty = 64

func readRandom(r *reader) Random {
	seed, most := 1, 100_000
	r.count(&seed, "seed", math.MaxInt32, "decides which node is drawn for an item")
	r.count(&most, "slices", 250_000, "maximum number of slices; with more items a slice has several")
	return Random{Seed: uint64(seed), MostSlices: most}
}

// Name implements balance.Strategy.
func (Random) Name() string { return randomName }

// Initial implements balance.Strategy.
func (r Random) Initial(in balance.Input) (balance.Proposal, error) {
	if in.Items.Len() == 0 {
		p, err := lay(in, cut(in), true)
		p.Reasons = append(leave("there are no items yet; each node gets one run of keys of equal width"), p.Reasons...)
		return p, err
	}
	b, each := newBoard(in, 1), eachSlice(in, r.MostSlices)
	for i := range b.nodes { // all lies on the first node, in the model of view 0
		b.nodes[i].weight = 0
	}
	var list []piece
	n := 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		if n%each == 0 {
			node := &b.nodes[r.draw(b, k, uint64(w))]
			list = append(list, piece{lo: k, node: node.id, why: "drawn at random"})
		}
		b.nodes[b.index[list[len(list)-1].node]].weight += uint64(w)
		n++
		return true
	})
	list[0].lo = 0
	return lay(in, list, false)
}

// eachSlice returns how many items a slice holds, so that there are at most so many.
func eachSlice(in balance.Input, most int) int {
	most = max(1, most)
	return max(1, (in.Items.Len()+most-1)/most)
}

// drawings is how often a node is drawn for an item before the first one with
// room is taken.
const drawings = 16

// draw returns a node for a key, among the active ones by their shares; one
// with room, if there is any.
func (r Random) draw(b *board, k balance.Key, weight uint64) int {
	x, first := uint64(k), 0
	for n := range drawings {
		x = mix(r.Seed, x)
		at := float64(x) / (1 << 64) * b.shares[len(b.shares)-1]
		i := sort.Search(len(b.shares)-1, func(i int) bool { return b.shares[i] > at })
		if b.nodes[i].room(weight) {
			return i
		}
		if n == 0 {
			first = i
		}
	}
	for i := range b.nodes {
		if n := &b.nodes[i]; n.active && n.room(weight) {
			return i
		}
	}
	return first
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over both.
func mix(seed, x uint64) uint64 {
	return certify.Mix(x + 0x9e3779b97f4a7c15*(seed+1))
}

// Iterate implements balance.Strategy.
func (r Random) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 1)
	if b.items == 0 || b.active == 0 {
		b.leave(0, "there is nothing to place")
		return b.proposal(), nil
	}
	b.scatter(eachSlice(in, r.MostSlices), "drawn at random", func(k balance.Key, weight uint64) int { return r.draw(b, k, weight) })
	r.fill(b)
	b.clean()
	if len(b.ops) == 0 {
		_, ratio := b.hottest()
		b.leave(0, "every item has its slice; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.proposal(), nil
}

// scatter splits slices of more items than each and draws a node for all but
// the first part, until the budget is used up. why is why it is that node.
func (b *board) scatter(each int, why string, draw func(balance.Key, uint64) int) {
	var own []load.Item
	for i := range b.parts {
		p := &b.parts[i]
		if p.busy || p.Items <= each || !b.affords(1, 0) {
			continue
		}
		own = load.OfItems(b.in, p.Slice, own[:0])
		p.busy = true
		b.scatterSlice(p, own, each, why, draw)
	}
}

func (b *board) scatterSlice(p *part, own []load.Item, each int, why string, draw func(balance.Key, uint64) int) {
	type going struct {
		slice uint64
		to    int
		items int
	}
	var list []going
	id, items := p.ID, p.Items
	for begin := each; begin < len(own); begin += each {
		var sum load.SliceSum
		for _, v := range own[begin:min(begin+each, len(own))] {
			sum.Items++
			sum.Weight += uint64(v.Weight)
			sum.Load += v.Load
		}
		to := draw(own[begin].Key, sum.Weight)
		ok, _ := b.may(p.ID, to)
		ok = to == p.at || ok && b.nodes[to].room(sum.Weight) && b.affords(sum.Items, sum.Weight)
		if n := len(list); !ok && (n == 0 || list[n-1].slice != id) {
			break // what is left stays in a slice that stays
		}
		right, split := b.split(id, own[begin].Key, "slice %d has %d items, a slice has room for %d", p.ID, items, each)
		if !split || !ok {
			break
		}
		id = right
		b.nodes[p.at].slices++
		if to != p.at {
			b.nodes[p.at].slices--
			b.shift(p.at, to, sum.Items, sum.Weight, sum.Load)
			list = append(list, going{right, to, sum.Items})
		}
	}
	for _, g := range list {
		b.start(g.slice, g.to, "slice %d of %d items goes to node %s: %s", g.slice, g.items, b.nodes[g.to].name, why)
	}
}

// fill sends nodes that have far fewer items than chance would give them, such
// as new ones, their fair share: slices drawn from all other nodes.
func (r Random) fill(b *board) {
	has := make([]int, len(b.nodes))
	for i := range b.parts {
		has[b.parts[i].at] += b.parts[i].Items
	}
	low := make([]bool, len(b.nodes))
	lacks := make([]float64, len(b.nodes)) // of the nodes up to this one
	fair := func(i int) float64 { return float64(b.items) * b.nodes[i].share / b.shares[len(b.shares)-1] }
	others, sum := b.items, 0.0
	for i := range b.nodes {
		if f := fair(i); b.nodes[i].active && float64(has[i]) < f-4*math.Sqrt(f) {
			low[i] = true
			others -= has[i]
			sum += f - float64(has[i])
		}
		lacks[i] = sum
	}
	if sum == 0 {
		return
	}
	for k := range b.parts {
		p := &b.parts[k]
		at := float64(mix(r.Seed+1, uint64(p.Lo))) / (1 << 64) * float64(others)
		if p.busy || p.Items == 0 || low[p.at] || at >= sum {
			continue
		}
		to := sort.Search(len(lacks)-1, func(i int) bool { return lacks[i] > at })
		n := &b.nodes[to]
		if ok, _ := b.may(p.ID, to); !ok || !n.room(p.Weight) || !b.affords(p.Items, p.Weight) {
			continue
		}
		b.start(p.ID, to, "slice %d goes to node %s, which has %d items and would have %.0f by chance", p.ID, n.name, has[to], fair(to))
		b.nodes[p.at].slices--
		b.shift(p.at, to, p.Items, p.Weight, p.Load)
		p.busy = true
	}
}

// clean merges slices without items with a neighbour on the same node, or has
// them go to the left neighbour's node, which moves no data, to be merged later.
func (b *board) clean() {
	moved := 0
	for i := range b.parts {
		p := &b.parts[i]
		if p.busy || p.Items > 0 {
			continue
		}
		if i+1 < len(b.parts) {
			if right := &b.parts[i+1]; !right.busy && right.at == p.at &&
				b.merge(p.ID, right.ID, "slice %d has no items and joins its neighbour %d", p.ID, right.ID) {
				right.ID, right.Lo, right.merged = p.ID, p.Lo, true
				continue
			}
		}
		if i == 0 || b.parts[i-1].busy || p.merged {
			continue
		}
		left := &b.parts[i-1]
		if left.at == p.at {
			if b.merge(left.ID, p.ID, "slice %d has no items and joins its neighbour %d", p.ID, left.ID) {
				left.busy, p.busy = true, true
			}
			continue
		}
		if ok, _ := b.may(p.ID, left.at); ok && moved < mostEmpty {
			moved++
			b.start(p.ID, left.at, "slice %d has no items and goes to its neighbour %d on node %s, to be merged", p.ID, left.ID, b.nodes[left.at].name)
			left.busy, p.busy = true, true
		}
	}
}
