package compared

import (
	"cmp"
	"slices"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const cassandraName = "cassandra"

// Cassandra is consistent hashing with random tokens that move along the ring (Lakshman
// and Malik, 2010; thesis 4.4.2): load is tracked by arc, and the token between a hot
// arc and a neighbouring one shifts. Neither source says how far, or which token. Here
// this is done for each shard above 1 + Delta times the mean, the hottest first. Its
// hottest slice has neighbours on other shards. The items at the end beside the lighter
// of these shards go to that shard, until both shards are equal. Adjacent slices on the
// same shard are merged, since tokens need not stay where they began. A shard that joins
// first takes the arcs of its tokens. The paper also moves a light shard's token into a
// hot arc; this is not done here.
type Cassandra struct {
	seated
	Delta float64
}

func readCassandra(r *options.Reader) Cassandra {
	c := Cassandra{seated: seated{readTokens(r)}, Delta: 0.1}
	r.Number(&c.Delta, "delta", 0, 10, "how far above the mean a shard may be before its arcs shrink")
	return c
}

// leastGain is the least gain of a move, in mean loads of a shard.
const leastGain = 0.005

// Name implements balance.Strategy.
func (Cassandra) Name() string { return cassandraName }

// Iterate implements balance.Strategy.
func (c Cassandra) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	memory, all := arrive(b, in, c.Tokens)
	if balances(b, all) {
		x := exchange{Draft: b, Rao: Rao{Delta: c.Delta}}
		x.gather()
		for _, h := range x.sorted(x.heavy, -1) {
			if !x.shrink(h) {
				x.Leave(0, "shard %s stays at %.2f x the mean: no neighbour of its slices is on a shard that gains from them", x.Shards[h].Name, x.OfMean(x.Shards[h].Heat()))
			}
		}
		b.Join(nil)
		x.sum()
	}
	p := b.Proposal()
	p.Memory = memory
	return p, nil
}

// shrink moves an end of one of a shard's slices: of the hottest slice for which this
// helps.
func (x *exchange) shrink(h int) bool {
	for _, i := range slices.Backward(x.on[h]) {
		var sides []int
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(x.Parts) && x.Shards[x.Parts[j].At].Active && x.Parts[j].At != h && !x.Parts[j].Busy {
				sides = append(sides, j)
			}
		}
		slices.SortStableFunc(sides, func(a, b int) int {
			return cmp.Compare(x.Shards[x.Parts[a].At].Heat(), x.Shards[x.Parts[b].At].Heat())
		})
		if len(sides) > 0 && !x.Parts[i].Busy && x.nibble(i, x.Parts[sides[0]].At, sides[0] > i) {
			return true
		}
	}
	return false
}

// nibble gives items at one end of a slice to a shard, until both shards are equal.
func (x *exchange) nibble(i, to int, right bool) bool {
	p := &x.Parts[i]
	a, b := &x.Shards[p.At], &x.Shards[to]
	most := (a.Load*b.Share - b.Load*a.Share) / (a.Share + b.Share)
	own := load.OfItems(x.In, p.Slice, nil)
	if right {
		slices.Reverse(own)
	}
	var sum draft.Segment
	n := 0
	for ; n < len(own) && sum.Load+own[n].Load <= most && x.Affords(sum.Items+1, sum.Weight+uint64(own[n].Weight)); n++ {
		sum.Add(own[n])
	}
	if n == 0 || sum.Load < leastGain*x.Mean {
		return false
	}
	gone := draft.Segment{Interval: balance.Interval{Lo: p.Lo, Hi: p.Hi}, To: to, Why: "the border with its neighbour shifts, until both shards have the same load"}
	stays := draft.Segment{Interval: gone.Interval, To: p.At}
	list := []draft.Segment{gone}
	switch {
	case n < len(own) && right:
		list[0].Lo, stays.Hi = own[n-1].Key, own[n-1].Key-1
		list = []draft.Segment{stays, list[0]}
	case n < len(own):
		list[0].Hi, stays.Lo = own[n].Key-1, own[n].Key
		list = append(list, stays)
	}
	return x.Carry(p, list)
}
