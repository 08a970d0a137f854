package compared

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const consistentFixedName = "consistent-fixed"

// ConsistentFixed is consistent hashing with as many tokens as ranges (thesis 4.4.1,
// strategy 3). The ring is cut once into Ranges ranges of equal width, and each of the
// first shards gets equally many of them, at random. The ranges of a shard that leaves
// go to other shards at random; a shard that joins takes its part from those with most.
// The numbers stay even in both cases, as in DeCandia et al. (SOSP 2007, 6.2). Which
// shard has which range depends on history, and the model remembers it. The load is
// ignored.
type ConsistentFixed struct {
	Ranges int
	Seed   uint64
}

func readConsistentFixed(r *options.Reader) ConsistentFixed {
	ranges, seed := 1024, 1
	r.Count(&ranges, "ranges", mostTokens, "ranges of equal width into which the ring is cut; many more than shards")
	r.Count(&seed, "seed", math.MaxInt32, "decides which ranges a shard gets")
	return ConsistentFixed{Ranges: max(1, ranges), Seed: uint64(seed)}
}

// Name implements balance.Strategy.
func (ConsistentFixed) Name() string { return consistentFixedName }

// Initial implements balance.Strategy.
func (c ConsistentFixed) Initial(in balance.Input) (balance.Proposal, error) {
	return draft.Initial(in, c.deal(in, make([]balance.ShardID, c.Ranges), nil))
}

// Iterate implements balance.Strategy.
func (c ConsistentFixed) Iterate(in balance.Input) (balance.Proposal, error) {
	return draft.Iterate(in, c.deal(in, c.owners(in), nil))
}

// Refuges implements balance.Refuge.
func (c ConsistentFixed) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	left := make(map[balance.ShardID]bool)
	for _, s := range leaving {
		left[s.Shard] = true
	}
	return draft.Refuges(in, leaving, c.deal(in, c.owners(in), left))
}

// owners returns the shard that has each range: the shard of the range's last key.
func (c ConsistentFixed) owners(in balance.Input) []balance.ShardID {
	all, at := in.Model.Slices(), 0
	owners := make([]balance.ShardID, c.Ranges)
	for i := range owners {
		for end := rangeEnd(i, c.Ranges); all[at].Hi < end; {
			at++
		}
		owners[i] = all[at].Target()
	}
	return owners
}

// fixed is the layout of ConsistentFixed.
type fixed struct {
	owners []balance.ShardID
	hands  []*hand
}

// hand is a shard with its ranges.
type hand struct {
	shard balance.ShardID
	share uint64
	part  int   // number of ranges that it must have at least
	has   []int // its ranges; it gives away the last one first
}

// newFixed returns a layout of ranges, with the active shards that have not left and the
// number of ranges that each should have. The shards have no ranges yet.
func newFixed(in balance.Input, owners []balance.ShardID, left map[balance.ShardID]bool) fixed {
	f, shares := fixed{owners: owners}, uint64(0)
	for _, sh := range in.Model.Shards() {
		if sh.State == balance.Active && !left[sh.ID] {
			h := &hand{shard: sh.ID, share: draft.ShareOf(in, sh.ID)}
			f.hands, shares = append(f.hands, h), shares+h.share
		}
	}
	for _, h := range f.hands {
		h.part = int(uint64(len(owners)) * h.share / shares)
	}
	return f
}

// deal gives the ranges of shards that are not active, or that are in left, to the
// shards with fewest. Then it gives shards that have too few ranges some from the shards
// with most.
func (c ConsistentFixed) deal(in balance.Input, owners []balance.ShardID, left map[balance.ShardID]bool) fixed {
	f, at := newFixed(in, owners, left), make(map[balance.ShardID]*hand)
	if len(f.hands) == 0 {
		return f
	}
	for _, h := range f.hands {
		at[h.shard] = h
	}
	order := make([]int, c.Ranges) // in random order
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(draft.Mix(c.Seed, uint64(a)), draft.Mix(c.Seed, uint64(b))) })
	var free []int
	for _, i := range order {
		if h := at[owners[i]]; h != nil {
			h.has = append(h.has, i)
		} else {
			free = append(free, i)
		}
	}
	for _, i := range free {
		f.give(i, f.extreme(-1))
	}
	for _, h := range f.hands {
		for len(h.has) < h.part {
			most := f.extreme(1)
			i := most.has[len(most.has)-1]
			most.has = most.has[:len(most.has)-1]
			f.give(i, h)
		}
	}
	return f
}

func (f *fixed) give(i int, h *hand) {
	f.owners[i] = h.shard
	h.has = append(h.has, i)
}

// extreme returns the shard with the most ranges for its share, or the fewest if sign is
// -1.
func (f *fixed) extreme(sign int) (best *hand) {
	for _, h := range f.hands {
		if best == nil || sign*cmp.Compare(uint64(len(h.has))*best.share, uint64(len(best.has))*h.share) > 0 {
			best = h
		}
	}
	return best
}

// Pieces implements draft.Layout. It returns single ranges, so that those of a shard
// that leaves can go to many shards.
func (f fixed) Pieces() []draft.Piece {
	list := make([]draft.Piece, len(f.owners))
	for i, shard := range f.owners {
		list[i] = draft.Piece{Lo: rangeBegin(i, len(f.owners)), Shard: shard, Why: fmt.Sprintf("range %d of %d is dealt to shard %d", i, len(f.owners), shard)}
	}
	return list
}

// Next implements draft.Layout. It returns the shard that has the range, or else the
// good shard with the fewest ranges.
func (f fixed) Next(keys balance.Interval, good func(balance.ShardID) bool) (best balance.ShardID) {
	if len(f.hands) == 0 {
		return 0
	}
	if shard := f.owners[rangeOf(keys.Hi, len(f.owners))]; good(shard) {
		return shard
	}
	var fewest *hand
	for _, h := range f.hands {
		if (fewest == nil || uint64(len(h.has))*fewest.share < uint64(len(fewest.has))*h.share) && good(h.shard) {
			fewest = h
		}
	}
	if fewest == nil {
		return 0
	}
	return fewest.shard
}
