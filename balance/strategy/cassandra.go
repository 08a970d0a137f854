package strategy

import (
	"cmp"
	"slices"

	"adshard/balance"
	"adshard/balance/load"
)

const cassandraName = "cassandra"

// Cassandra is consistent hashing with random tokens that move along the ring
// (Lakshman and Malik, 2010; thesis 4.4.2): load is tracked by arc, and the token
// between a hot arc and a neighbouring one shifts. Neither source says how far, or
// which one. Ours: of each node above 1 + Delta times the mean, the hottest first, the
// hottest slice gives its items on the side of its lighter neighbour's node to that
// node, until both nodes are equal. Slices side by side on one node become one, since
// tokens need not lie where they began. A node that joins takes the arcs of its tokens
// first. The paper also has a light node's token go into a hot arc; we do not.
type Cassandra struct {
	seated
	Delta float64
}

func readCassandra(r *reader) Cassandra {
	c := Cassandra{seated: seated{readTokens(r)}, Delta: 0.1}
	r.number(&c.Delta, "delta", 0, 10, "how far above the mean a node may be before its arcs shrink")
	return c
}

// leastGain is what a move must gain, in mean loads of a node.
const leastGain = 0.005

// Name implements balance.Strategy.
func (Cassandra) Name() string { return cassandraName }

// Iterate implements balance.Strategy.
func (c Cassandra) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 1)
	memory, all := b.arrive(in, c.Tokens)
	if b.balances(all) {
		x := exchange{board: b, Rao: Rao{Delta: c.Delta}}
		x.gather()
		for _, h := range x.sorted(x.heavy, -1) {
			if !x.shrink(h) {
				x.leave(0, "node %s stays at %.2f x the mean: no neighbour of its slices is on a node that gains from them", x.nodes[h].name, x.x(x.nodes[h].hot()))
			}
		}
		b.join(nil)
		x.sum()
	}
	p := b.proposal()
	p.Memory = memory
	return p, nil
}

// shrink moves a border of one of a node's slices, the hottest that it helps for.
func (x *exchange) shrink(h int) bool {
	for _, i := range slices.Backward(x.on[h]) {
		var sides []int
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(x.parts) && x.nodes[x.parts[j].at].active && x.parts[j].at != h && !x.parts[j].busy {
				sides = append(sides, j)
			}
		}
		slices.SortStableFunc(sides, func(a, b int) int {
			return cmp.Compare(x.nodes[x.parts[a].at].hot(), x.nodes[x.parts[b].at].hot())
		})
		if len(sides) > 0 && !x.parts[i].busy && x.nibble(i, x.parts[sides[0]].at, sides[0] > i) {
			return true
		}
	}
	return false
}

// nibble gives the items at one end of a slice to a node, until both nodes are equal.
func (x *exchange) nibble(i, to int, right bool) bool {
	p := &x.parts[i]
	a, b := &x.nodes[p.at], &x.nodes[to]
	most := (a.load*b.share - b.load*a.share) / (a.share + b.share)
	own := load.OfItems(x.in, p.Slice, nil)
	if right {
		slices.Reverse(own)
	}
	var sum segment
	n := 0
	for ; n < len(own) && sum.Load+own[n].Load <= most && x.affords(sum.Items+1, sum.Weight+uint64(own[n].Weight)); n++ {
		sum.add(own[n])
	}
	if n == 0 || sum.Load < leastGain*x.mean {
		return false
	}
	gone := segment{Interval: balance.Interval{Lo: p.Lo, Hi: p.Hi}, to: to, why: "the border with its neighbour shifts, until both nodes have the same load"}
	stays := segment{Interval: gone.Interval, to: p.at}
	list := []segment{gone}
	switch {
	case n < len(own) && right:
		list[0].Lo, stays.Hi = own[n-1].Key, own[n-1].Key-1
		list = []segment{stays, list[0]}
	case n < len(own):
		list[0].Hi, stays.Lo = own[n].Key-1, own[n].Key
		list = append(list, stays)
	}
	return x.carry(p, list)
}
