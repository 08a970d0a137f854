package compared

import (
	"cmp"
	"slices"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

// Rao is load-aware consistent hashing (Rao, Lakshminarayanan, Surana, Karp, Stoica,
// IPTPS 2003; thesis 4.4.2). It has the tokens of ConsistentRandom; each token, with
// the slice that ends there, may go from a heavy shard to a light one. A shard is heavy
// if it has more than 1 + Delta times the mean for its share (the thesis gives no
// constants; 0.1 was chosen here). The best slice to go from a heavy shard to a light
// one is the lightest slice that makes the first one light and keeps the second one
// light. If there is none, it is the heaviest that the second shard can take.
//
// rao-one: each light shard draws another shard, which gives away a slice if it is
// heavy. rao-many: each heavy shard draws Draws light ones and gives a slice to the
// lightest. rao-pool: a central place takes slices from heavy shards until they are
// light. It gives each, the heaviest first, to the light shard that then has the least
// room left, or in exchange for a lighter slice.
//
// Slices are not split, so a single slice may be more than a shard should have. A shard
// that joins first takes the arcs of its tokens; the memory lists the shards that have
// done so.
type Rao struct {
	name string
	seated
	Delta float64
	Draws int
}

func readRao(r *options.Reader, name string) Rao {
	c := Rao{name: name, seated: seated{readTokens(r)}, Delta: 0.1, Draws: 4}
	r.Number(&c.Delta, "delta", 0, 10, "how far above the mean a shard may be that is light")
	if name == raoManyName {
		r.Count(&c.Draws, "draws", 1000, "light shards that a heavy one draws")
	}
	return c
}

// Name implements balance.Strategy.
func (r Rao) Name() string { return r.name }

// Iterate implements balance.Strategy.
func (r Rao) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	memory, all := arrive(b, in, r.Tokens)
	x := exchange{Draft: b, Rao: r}
	if balances(b, all) {
		x.gather()
		switch r.name {
		case raoOneName:
			x.one()
		case raoManyName:
			x.many()
		default:
			x.pool()
		}
		x.sum()
	}
	p := b.Proposal()
	p.Memory = memory
	return p, nil
}

// balances reports whether there is load to balance by and all shards have the arcs of
// their tokens. If not, it adds the reason.
func balances(b *draft.Draft, all bool) bool {
	if !all {
		b.Leave(0, "shards that have joined take the arcs of their tokens first")
		return false
	}
	if b.In.Few != "" {
		b.Leave(0, "rests: %s", b.In.Few)
		return false
	}
	b.Measured()
	if b.Total == 0 || b.Active == 0 {
		b.Leave(0, "there is nothing to balance")
		return false
	}
	return true
}

// exchange is an iteration of Rao.
type exchange struct {
	*draft.Draft
	Rao
	on [][]int // by shard: its slices, the lightest first
}

func (x *exchange) gather() {
	x.on = make([][]int, len(x.Shards))
	for i := range x.Parts {
		if p := &x.Parts[i]; !p.Busy && p.Items > 0 && p.Load > 0 {
			x.on[p.At] = append(x.on[p.At], i)
		}
	}
	for _, list := range x.on {
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(x.Parts[i].Load, x.Parts[j].Load) })
	}
}

// room returns how far a shard is below its target.
func (x *exchange) room(n int) float64 {
	return (1+x.Delta)*x.Mean*x.Shards[n].Share - x.Shards[n].Load
}

func (x *exchange) heavy(n int) bool { return x.room(n) < 0 }

func (x *exchange) light(n int) bool { return x.Shards[n].Active && !x.heavy(n) }

// sorted returns the shards for which `of` is true, the hottest first if sign is -1, or
// last if it is 1.
func (x *exchange) sorted(of func(int) bool, sign int) (list []int) {
	for n := range x.Shards {
		if of(n) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return sign * cmp.Compare(x.Shards[a].Heat(), x.Shards[b].Heat()) })
	return list
}

// goes reports whether a slice may go to a shard now.
func (x *exchange) goes(i, to int) bool {
	p := &x.Parts[i]
	if p.Busy || !x.Shards[to].Room(p.Weight) || !x.Affords(p.Items, p.Weight) {
		return false
	}
	ok, _ := x.May(p.ID, to)
	return ok
}

// best returns the slice that should go from one shard to another, or -1 if there is
// none.
func (x *exchange) best(from, to int) (best int) {
	best = -1
	for _, i := range x.on[from] {
		if x.Parts[i].Load > x.room(to) {
			break
		}
		if !x.goes(i, to) {
			continue
		}
		if best = i; x.Parts[i].Load >= -x.room(from) {
			break
		}
	}
	return best
}

// give moves a slice.
func (x *exchange) give(i, to int, why string) {
	p := &x.Parts[i]
	x.Start(p.ID, to, "slice %d, %.3f x the mean load of a shard, goes from shard %s at %.2f to shard %s at %.2f: %s",
		p.ID, x.OfMean(p.Load), x.Shards[p.At].Name, x.OfMean(x.Shards[p.At].Heat()), x.Shards[to].Name, x.OfMean(x.Shards[to].Heat()), why)
	x.Shift(p.At, to, p.Items, p.Weight, p.Load)
	x.Shards[p.At].Slices--
	p.Busy = true
}

// draw returns a random number for a shard in this iteration.
func (x *exchange) draw(shard, n int) uint64 {
	return draft.Mix(draft.Mix(x.Tokens.Seed, x.In.Iteration), uint64(x.Shards[shard].ID)<<16+uint64(n))
}

// sum adds a reason that says how the iteration ends.
func (x *exchange) sum() {
	hottest, ratio := x.HottestShard()
	heavy := x.sorted(x.heavy, -1)
	x.Leave(0, "max/mean is then %.3f (shard %s); %d shards are above %.3g x the mean", ratio, x.Shards[hottest].Name, len(heavy), 1+x.Delta)
}
