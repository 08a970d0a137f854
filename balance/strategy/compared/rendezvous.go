package compared

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const rendezvousName = "rendezvous"

// Rendezvous is rendezvous hashing (Thaler and Ravishankar, 1996; thesis 4.7): an item is
// on the shard for which a hash of both is highest. A shard that joins or leaves changes
// nothing for the others; but when one joins, every item must be hashed with it. The load
// is ignored.
//
// The paper has no shares. They are added here as in weighted rendezvous hashing: the
// hash, taken as u between 0 and 1, becomes -share/ln(u), which gives each shard its share
// of the items. If there are more items than MostSlices, a slice has several items, and
// the first of them decides.
type Rendezvous struct {
	Seed       uint64
	MostSlices int
}

func readRendezvous(r *options.Reader) Rendezvous {
	seed, most := 1, 100_000
	r.Count(&seed, "seed", math.MaxInt32, "decides the hashes")
	r.Count(&most, "slices", 250_000, "maximum number of slices; with more items a slice has several")
	return Rendezvous{Seed: uint64(seed), MostSlices: most}
}

// Name implements balance.Strategy.
func (Rendezvous) Name() string { return rendezvousName }

// contest has the shards from which hashes choose one for each item.
type contest struct {
	shards []balance.ShardID
	seeds  []uint64
	share  []float64
}

func (r Rendezvous) contest(in balance.Input) (c contest) {
	for _, sh := range in.Model.Shards() {
		if sh.State == balance.Active {
			c.shards = append(c.shards, sh.ID)
			c.seeds = append(c.seeds, draft.Mix(r.Seed, xxhash.Sum64String(sh.Name)))
			c.share = append(c.share, float64(draft.ShareOf(in, sh.ID)))
		}
	}
	return c
}

// best returns the shard with the highest score for a key among those that are good, or 0
// if none is. If good is nil, all shards are good.
func (c contest) best(k balance.Key, good func(balance.ShardID) bool) (shard balance.ShardID) {
	most, share := uint64(0), 0.0
	for i, id := range c.shards {
		u := draft.Mix(c.seeds[i], uint64(k))
		// Logarithms are needed only if the shares differ.
		ahead := u > most
		if shard != 0 && c.share[i] != share {
			ahead = score(u, c.share[i]) > score(most, share)
		}
		if (shard == 0 || ahead) && (good == nil || good(id)) {
			shard, most, share = id, u, c.share[i]
		}
	}
	return shard
}

func score(u uint64, share float64) float64 { return -share / math.Log((float64(u)+0.5)/(1<<64)) }

// Initial implements balance.Strategy.
func (r Rendezvous) Initial(in balance.Input) (balance.Proposal, error) {
	c, each := r.contest(in), draft.ItemsEach(in, r.MostSlices)
	var list []draft.Piece
	n := 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		if n%each == 0 {
			list = append(list, draft.Piece{Lo: k, Shard: c.best(k, nil), Why: "the highest hash with its first item"})
		}
		n++
		return true
	})
	if n == 0 {
		p, err := draft.Lay(in, draft.EvenRuns(in), true)
		p.Reasons = append(draft.LeftAsIs("there are no items yet; each shard gets one run of keys of equal width"), p.Reasons...)
		return p, err
	}
	first := list[0].Lo
	list[0].Lo = 0
	return draft.Initial(in, hashed{c, list, map[balance.Key]balance.Key{0: first}})
}

// hashed is the layout of the first plan.
type hashed struct {
	contest
	list  []draft.Piece
	first map[balance.Key]balance.Key // the first item of a piece, if it is not at the first key
}

// Pieces implements draft.Layout.
func (h hashed) Pieces() []draft.Piece { return h.list }

// Next implements draft.Layout.
func (h hashed) Next(keys balance.Interval, good func(balance.ShardID) bool) balance.ShardID {
	k, ok := h.first[keys.Lo]
	if !ok {
		k = keys.Lo
	}
	return h.best(k, good)
}

// Iterate implements balance.Strategy.
func (r Rendezvous) Iterate(in balance.Input) (balance.Proposal, error) {
	b := draft.New(in, 1)
	if b.Items == 0 || b.Active == 0 {
		b.Leave(0, "there is nothing to place")
		return b.Proposal(), nil
	}
	c := r.contest(in)
	b.Scatter(draft.ItemsEach(in, r.MostSlices), "the highest hash", func(k balance.Key, _ uint64) int {
		return b.Index[c.best(k, nil)]
	})
	first := firstItems(in)
	for i := range b.Parts {
		if p := &b.Parts[i]; !p.Busy && p.Items > 0 {
			to := b.Index[c.best(first[i], nil)]
			b.Carry(p, []draft.Segment{{Interval: balance.Interval{Lo: p.Lo, Hi: p.Hi}, To: to, Why: "the highest hash with its first item"}})
		}
	}
	b.MergeEmpty()
	if len(b.Ops) == 0 {
		_, ratio := b.HottestShard()
		b.Leave(0, "nothing to move or to merge; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.Proposal(), nil
}

// Refuges implements balance.Refuge: slices that leave go to the shard with the next
// highest hash.
func (r Rendezvous) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	h := hashed{contest: r.contest(in), first: make(map[balance.Key]balance.Key)}
	first := firstItems(in)
	for i, s := range in.Model.Slices() {
		h.first[s.Lo] = first[i]
	}
	return draft.Refuges(in, leaving, h)
}

// firstItems returns, for each slice, the key of its first item, or its first key if it
// has no items.
func firstItems(in balance.Input) []balance.Key {
	all, at := in.Model.Slices(), -1
	list := make([]balance.Key, len(all))
	for i, s := range all {
		list[i] = s.Lo
	}
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		if at < 0 || all[at].Hi < k {
			for at = max(at, 0); all[at].Hi < k; {
				at++
			}
			list[at] = k
		}
		return true
	})
	return list
}
