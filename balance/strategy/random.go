package strategy

import (
	"math"
	"sort"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const randomName = "random"

// Random is the random balancing of thesis 6.5: every item is a slice of its own on a
// random shard. An iteration splits slices of several items and puts the new slices on
// random shards, merges slices without items with a neighbour on the same shard, and
// gives a shard that has joined its fair share. It ignores the load. The shard drawn
// depends only on the seed, the item's key and the shards' shares.
//
// If there are more items than MostSlices, a slice has several items, so that the model
// stays small. The thesis has no such limit.
type Random struct {
	Seed       uint64
	MostSlices int
}

func readRandom(r *options.Reader) Random {
	seed, most := 1, 100_000
	r.Count(&seed, "seed", math.MaxInt32, "decides which shard is drawn for an item")
	r.Count(&most, "slices", 250_000, "maximum number of slices; with more items a slice has several")
	return Random{Seed: uint64(seed), MostSlices: most}
}

// Name implements balance.Strategy.
func (Random) Name() string { return randomName }

// Initial implements balance.Strategy.
func (r Random) Initial(in balance.Input) (balance.Proposal, error) {
	if in.Items.Len() == 0 {
		p, err := draft.Lay(in, draft.EvenRuns(in), true)
		p.Reasons = append(draft.LeftAsIs("there are no items yet; each shard gets one run of keys of equal width"), p.Reasons...)
		return p, err
	}
	b, each := draft.New(in, 1), draft.ItemsEach(in, r.MostSlices)
	for i := range b.Shards { // in the model of view 0, everything is on the first shard
		b.Shards[i].Weight = 0
	}
	var list []draft.Piece
	n := 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		if n%each == 0 {
			shard := &b.Shards[r.draw(b, k, uint64(w))]
			list = append(list, draft.Piece{Lo: k, Shard: shard.ID, Why: "drawn at random"})
		}
		b.Shards[b.Index[list[len(list)-1].Shard]].Weight += uint64(w)
		n++
		return true
	})
	list[0].Lo = 0
	return draft.Lay(in, list, false)
}

// drawings is how often a shard is drawn for an item before the first shard with room
// is taken.
const drawings = 16

// draw returns a shard for a key: one of the active shards, by their shares, and one
// with room if there is any.
func (r Random) draw(b *draft.Draft, k balance.Key, weight uint64) int {
	x, first := uint64(k), 0
	for n := range drawings {
		x = draft.Mix(r.Seed, x)
		at := float64(x) / (1 << 64) * b.UpTo[len(b.UpTo)-1]
		i := sort.Search(len(b.UpTo)-1, func(i int) bool { return b.UpTo[i] > at })
		if b.Shards[i].Room(weight) {
			return i
		}
		if n == 0 {
			first = i
		}
	}
	for i := range b.Shards {
		if n := &b.Shards[i]; n.Active && n.Room(weight) {
			return i
		}
	}
	return first
}

// Iterate implements balance.Strategy.
func (r Random) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	if b.Items == 0 || b.Active == 0 {
		b.Leave(0, "there is nothing to place")
		return b.Proposal(), nil
	}
	b.Scatter(draft.ItemsEach(in, r.MostSlices), "drawn at random", func(k balance.Key, weight uint64) int { return r.draw(b, k, weight) })
	r.fill(b)
	b.MergeEmpty()
	if len(b.Ops) == 0 {
		_, ratio := b.HottestShard()
		b.Leave(0, "every item has its slice; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.Proposal(), nil
}

// fill gives shards with far fewer items than chance would give them, such as new
// shards, their fair share: slices drawn from all other shards.
func (r Random) fill(b *draft.Draft) {
	has := make([]int, len(b.Shards))
	for i := range b.Parts {
		has[b.Parts[i].At] += b.Parts[i].Items
	}
	low := make([]bool, len(b.Shards))
	lacks := make([]float64, len(b.Shards)) // sum over the shards up to this one
	fair := func(i int) float64 { return float64(b.Items) * b.Shards[i].Share / b.UpTo[len(b.UpTo)-1] }
	others, sum := b.Items, 0.0
	for i := range b.Shards {
		if f := fair(i); b.Shards[i].Active && float64(has[i]) < f-4*math.Sqrt(f) {
			low[i] = true
			others -= has[i]
			sum += f - float64(has[i])
		}
		lacks[i] = sum
	}
	if sum == 0 {
		return
	}
	for k := range b.Parts {
		p := &b.Parts[k]
		at := float64(draft.Mix(r.Seed+1, uint64(p.Lo))) / (1 << 64) * float64(others)
		if p.Busy || p.Items == 0 || low[p.At] || at >= sum {
			continue
		}
		to := sort.Search(len(lacks)-1, func(i int) bool { return lacks[i] > at })
		n := &b.Shards[to]
		if ok, _ := b.May(p.ID, to); !ok || !n.Room(p.Weight) || !b.Affords(p.Items, p.Weight) {
			continue
		}
		b.Start(p.ID, to, "slice %d goes to shard %s, which has %d ad groups and would have %.0f by chance", p.ID, n.Name, has[to], fair(to))
		b.Shards[p.At].Slices--
		b.Shift(p.At, to, p.Items, p.Weight, p.Load)
		p.Busy = true
	}
}
