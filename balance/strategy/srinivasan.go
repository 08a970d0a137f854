package strategy

import (
	"adshard/balance"
	"adshard/balance/load"
)

const srinivasanName = "srinivasan"

// Srinivasan is consistent hashing whose ranges split and merge by two thresholds
// (Srinivasan and Varma, 2015; thesis 4.4.2, with its weakness in 4.5.2: heat goes to
// neighbours only). A range of more than Hot times the mean range is split where its
// load halves, and the new token goes to the lighter of the neighbouring tokens' nodes.
// Neighbours of less than Cold times the mean range each merge, onto the lighter of
// their nodes, as long as they are then below Hot/2. Numbers and the last condition
// are ours; so is that a range is split only if that lowers the hotter one of both
// nodes. A node that joins takes the arcs of its tokens first.
type Srinivasan struct {
	seated
	Hot, Cold float64
}

func readSrinivasan(r *reader) Srinivasan {
	c := Srinivasan{seated: seated{readTokens(r)}, Hot: 2, Cold: 0.5}
	r.number(&c.Hot, "hot", 1, 1e6, "times the mean range above which a range is split")
	r.number(&c.Cold, "cold", 0, 1, "times the mean range below which two neighbours merge")
	return c
}

// Name implements balance.Strategy.
func (Srinivasan) Name() string { return srinivasanName }

// Iterate implements balance.Strategy.
func (c Srinivasan) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 1)
	memory, all := b.arrive(in, c.Tokens)
	if b.balances(all) {
		x := exchange{board: b}
		mean := b.total / float64(len(b.parts))
		for i := range b.parts {
			if p := &b.parts[i]; !p.busy && p.Items > 0 && p.Load > c.Hot*mean {
				x.halve(i, mean)
			}
		}
		x.cool(c.Cold*mean, c.Hot/2*mean)
		hottest, ratio := b.hottest()
		b.leave(0, "max/mean is then %.3f (node %s); the mean of %d ranges is %.3g x a node's", ratio, b.nodes[hottest].name, len(b.parts), b.x(mean))
	}
	p := b.proposal()
	p.Memory = memory
	return p, nil
}

// halve splits a hot range and gives the part beside the lighter neighbour to its node.
func (x *exchange) halve(i int, mean float64) {
	p, side := &x.parts[i], -1
	for _, j := range []int{i - 1, i + 1} {
		if j < 0 || j >= len(x.parts) || x.parts[j].at == p.at || !x.nodes[x.parts[j].at].active {
			continue
		}
		if side < 0 || x.nodes[x.parts[j].at].hot() < x.nodes[x.parts[side].at].hot() {
			side = j
		}
	}
	if p.Items < 2 || side < 0 {
		x.stay(p, "slice %d, %.1f x the mean range, stays: it has one item only, or no neighbour on another node", p.ID, p.Load/mean)
		return
	}
	at, left := halfOf(load.OfItems(x.in, p.Slice, nil), p.Load)
	gone, to := left*p.Load, x.parts[side].at
	list := []segment{{Interval: balance.Interval{Lo: p.Lo, Hi: at - 1}, to: to}, {Interval: balance.Interval{Lo: at, Hi: p.Hi}, to: p.at}}
	if side > i {
		gone, list[0].to, list[1].to = p.Load-gone, p.at, to
	}
	a, b := &x.nodes[p.at], &x.nodes[to]
	if gain := a.hot() - max((a.load-gone)/a.share, (b.load+gone)/b.share); gain < leastGain*x.mean {
		x.stay(p, "slice %d, %.1f x the mean range, stays: half of it would make its neighbour's node %s as hot", p.ID, p.Load/mean, b.name)
		return
	}
	for i := range list {
		list[i].why = "half of a hot range, for the lighter of the neighbouring tokens' nodes"
	}
	x.carry(p, list)
}

// cool merges neighbours of less than cold each and at most so much together.
func (x *exchange) cool(cold, most float64) {
	for i := 1; i < len(x.parts); i++ {
		a, b := &x.parts[i-1], &x.parts[i]
		if a.busy || b.busy || a.Load >= cold || b.Load >= cold || a.Load+b.Load > most {
			continue
		}
		if a.at != b.at {
			from, to := a, b
			if x.nodes[a.at].hot() < x.nodes[b.at].hot() {
				from, to = b, a
			}
			if ok, _ := x.may(from.ID, to.at); !ok || !x.nodes[to.at].room(from.Weight) || !x.affords(from.Items, from.Weight) {
				continue
			}
			whole := segment{Interval: balance.Interval{Lo: from.Lo, Hi: from.Hi}, to: to.at, why: "it is cold, as its neighbour there, and they are to merge"}
			x.carry(from, []segment{whole})
		} else if x.merge(a.ID, b.ID, "slices %d and %d are cold and side by side on node %s", a.ID, b.ID, x.nodes[b.at].name) {
			x.nodes[b.at].slices--
		}
		a.busy, b.busy = true, true // each is in one pair only
	}
}
