package strategy

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"adshard/balance"
)

const rendezvousName = "rendezvous"

// Rendezvous is rendezvous hashing (Thaler and Ravishankar, 1996; thesis 4.7): an item
// is on the node for which a hash of both is highest. A node that joins or leaves
// changes nothing for the others, but when one joins, every item must be hashed anew
// with it. The load is ignored.
//
// Shares are ours, as others have them (weighted rendezvous hashing): the hash, as u
// between 0 and 1, counts as -share/ln(u), which gives each node its share of the
// items. That is why dgryski/go-rendezvous, which chooses distributors, is not used here: it
// has no weights. With more items than MostSlices a slice holds several, and the first of
// them decides.
type Rendezvous struct {
	Seed       uint64
	MostSlices int
}

func readRendezvous(r *reader) Rendezvous {
	seed, most := 1, 100_000
	r.count(&seed, "seed", math.MaxInt32, "decides the hashes")
	r.count(&most, "slices", 250_000, "maximum number of slices; with more items a slice has several")
	return Rendezvous{Seed: uint64(seed), MostSlices: most}
}

// Name implements balance.Strategy.
func (Rendezvous) Name() string { return rendezvousName }

// contest is the nodes that items are hashed with.
type contest struct {
	nodes []balance.NodeID
	seeds []uint64
	share []float64
}

func (r Rendezvous) contest(in balance.Input) (c contest) {
	for _, n := range in.Model.Nodes() {
		if n.State == balance.Active {
			c.nodes = append(c.nodes, n.ID)
			c.seeds = append(c.seeds, mix(r.Seed, xxhash.Sum64String(n.Name)))
			c.share = append(c.share, float64(share(in, n.ID)))
		}
	}
	return c
}

// best returns the node with the highest score for a key among those that are good,
// nil: all are; 0: none is.
func (c contest) best(k balance.Key, good func(balance.NodeID) bool) (node balance.NodeID) {
	most, share := uint64(0), 0.0
	for i, n := range c.nodes {
		u := mix(c.seeds[i], uint64(k))
		// The logarithms matter only between different shares.
		ahead := u > most
		if node != 0 && c.share[i] != share {
			ahead = score(u, c.share[i]) > score(most, share)
		}
		if (node == 0 || ahead) && (good == nil || good(n)) {
			node, most, share = n, u, c.share[i]
		}
	}
	return node
}

func score(u uint64, share float64) float64 { return -share / math.Log((float64(u)+0.5)/(1<<64)) }

// Initial implements balance.Strategy.
func (r Rendezvous) Initial(in balance.Input) (balance.Proposal, error) {
	c, each := r.contest(in), eachSlice(in, r.MostSlices)
	var list []piece
	n := 0
	in.Items.Ascend(0, balance.MaxKey, func(k balance.Key, _ uint32) bool {
		if n%each == 0 {
			list = append(list, piece{lo: k, node: c.best(k, nil), why: "the highest hash with its first item"})
		}
		n++
		return true
	})
	if n == 0 {
		p, err := lay(in, cut(in), true)
		p.Reasons = append(leave("there are no items yet; each node gets one run of keys of equal width"), p.Reasons...)
		return p, err
	}
	first := list[0].lo
	list[0].lo = 0
	return begin(in, hashed{c, list, map[balance.Key]balance.Key{0: first}})
}

// hashed is the layout of the first plan.
type hashed struct {
	contest
	list  []piece
	first map[balance.Key]balance.Key // the first item, where that is not the first key
}

func (h hashed) pieces() []piece { return h.list }

func (h hashed) next(keys balance.Interval, good func(balance.NodeID) bool) balance.NodeID {
	k, ok := h.first[keys.Lo]
	if !ok {
		k = keys.Lo
	}
	return h.best(k, good)
}

// Iterate implements balance.Strategy.
func (r Rendezvous) Iterate(in balance.Input) (balance.Proposal, error) {
	b := newBoard(in, 1)
	if b.items == 0 || b.active == 0 {
		b.leave(0, "there is nothing to place")
		return b.proposal(), nil
	}
	c := r.contest(in)
	b.scatter(eachSlice(in, r.MostSlices), "the highest hash", func(k balance.Key, _ uint64) int {
		return b.index[c.best(k, nil)]
	})
	first := firstItems(in)
	for i := range b.parts {
		if p := &b.parts[i]; !p.busy && p.Items > 0 {
			to := b.index[c.best(first[i], nil)]
			b.carry(p, []segment{{Interval: balance.Interval{Lo: p.Lo, Hi: p.Hi}, to: to, why: "the highest hash with its first item"}})
		}
	}
	b.clean()
	if len(b.ops) == 0 {
		_, ratio := b.hottest()
		b.leave(0, "nothing to move or to merge; the load is ignored, max/mean is %.3f", ratio)
	}
	return b.proposal(), nil
}

// Refuges implements balance.Refuge: the node with the next highest hash.
func (r Rendezvous) Refuges(in balance.Input, leaving []balance.Slice) []balance.NodeID {
	h := hashed{contest: r.contest(in), first: make(map[balance.Key]balance.Key)}
	first := firstItems(in)
	for i, s := range in.Model.Slices() {
		h.first[s.Lo] = first[i]
	}
	return refuges(in, leaving, h)
}

// firstItems returns the key of the first item of each slice; without items, its
// first key.
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
