package compared

import (
	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const srinivasanName = "srinivasan"

// Srinivasan is consistent hashing whose ranges split and merge by two thresholds
// (Srinivasan and Varma, 2015; thesis 4.4.2; its weakness, in 4.5.2, is that heat goes
// only to neighbours). A range of more than Hot times the mean range is split where its
// load halves, and the new token goes to the lighter one of the shards of the
// neighbouring tokens. Two neighbours of less than Cold times the mean range each merge,
// on the lighter one of their shards, if they are then below Hot/2. The numbers and the
// last condition are not from the paper. Neither is the condition that a range is split
// only if this makes the hotter one of the two shards cooler. A shard that joins first
// takes the arcs of its tokens.
type Srinivasan struct {
	seated
	Hot, Cold float64
}

func readSrinivasan(r *options.Reader) Srinivasan {
	c := Srinivasan{seated: seated{readTokens(r)}, Hot: 2, Cold: 0.5}
	r.Number(&c.Hot, "hot", 1, 1e6, "times the mean range above which a range is split")
	r.Number(&c.Cold, "cold", 0, 1, "times the mean range below which two neighbours merge")
	return c
}

// Name implements balance.Strategy.
func (Srinivasan) Name() string { return srinivasanName }

// Iterate implements balance.Strategy.
func (c Srinivasan) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	memory, all := arrive(b, in, c.Tokens)
	if balances(b, all) {
		x := exchange{Draft: b}
		mean := b.Total / float64(len(b.Parts))
		for i := range b.Parts {
			if p := &b.Parts[i]; !p.Busy && p.Items > 0 && p.Load > c.Hot*mean {
				x.halve(i, mean)
			}
		}
		x.cool(c.Cold*mean, c.Hot/2*mean)
		hottest, ratio := b.HottestShard()
		b.Leave(0, "max/mean is then %.3f (shard %s); the mean of %d ranges is %.3g x a shard's", ratio, b.Shards[hottest].Name, len(b.Parts), b.OfMean(mean))
	}
	p := b.Proposal()
	p.Memory = memory
	return p, nil
}

// halve splits a hot range. The part beside the neighbour on the lighter shard goes to
// that shard.
func (x *exchange) halve(i int, mean float64) {
	p, side := &x.Parts[i], -1
	for _, j := range []int{i - 1, i + 1} {
		if j < 0 || j >= len(x.Parts) || x.Parts[j].At == p.At || !x.Shards[x.Parts[j].At].Active {
			continue
		}
		if side < 0 || x.Shards[x.Parts[j].At].Heat() < x.Shards[x.Parts[side].At].Heat() {
			side = j
		}
	}
	if p.Items < 2 || side < 0 {
		x.Stay(p, "slice %d, %.1f x the mean range, stays: it has one item only, or no neighbour on another shard", p.ID, p.Load/mean)
		return
	}
	at, left := draft.HalfOf(load.OfItems(x.In, p.Slice, nil), p.Load)
	gone, to := left*p.Load, x.Parts[side].At
	list := []draft.Segment{{Interval: balance.Interval{Lo: p.Lo, Hi: at - 1}, To: to}, {Interval: balance.Interval{Lo: at, Hi: p.Hi}, To: p.At}}
	if side > i {
		gone, list[0].To, list[1].To = p.Load-gone, p.At, to
	}
	a, b := &x.Shards[p.At], &x.Shards[to]
	if gain := a.Heat() - max((a.Load-gone)/a.Share, (b.Load+gone)/b.Share); gain < leastGain*x.Mean {
		x.Stay(p, "slice %d, %.1f x the mean range, stays: half of it would make its neighbour's shard %s as hot", p.ID, p.Load/mean, b.Name)
		return
	}
	for i := range list {
		list[i].Why = "half of a hot range, for the lighter of the neighbouring tokens' shards"
	}
	x.Carry(p, list)
}

// cool merges neighbours that have less than cold each, and at most `most` together.
func (x *exchange) cool(cold, most float64) {
	for i := 1; i < len(x.Parts); i++ {
		a, b := &x.Parts[i-1], &x.Parts[i]
		if a.Busy || b.Busy || a.Load >= cold || b.Load >= cold || a.Load+b.Load > most {
			continue
		}
		if a.At != b.At {
			from, to := a, b
			if x.Shards[a.At].Heat() < x.Shards[b.At].Heat() {
				from, to = b, a
			}
			if ok, _ := x.May(from.ID, to.At); !ok || !x.Shards[to.At].Room(from.Weight) || !x.Affords(from.Items, from.Weight) {
				continue
			}
			whole := draft.Segment{Interval: balance.Interval{Lo: from.Lo, Hi: from.Hi}, To: to.At, Why: "it is cold, as its neighbour there, and they are to merge"}
			x.Carry(from, []draft.Segment{whole})
		} else if x.Merge(a.ID, b.ID, "slices %d and %d are cold and side by side on shard %s", a.ID, b.ID, x.Shards[b.At].Name) {
			x.Shards[b.At].Slices--
		}
		a.Busy, b.Busy = true, true // each is in one pair only
	}
}
