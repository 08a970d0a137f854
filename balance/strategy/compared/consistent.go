package compared

import (
	"adshard/balance"
	"adshard/balance/strategy/draft"
)

const consistentRandomName = "consistent-random"

// ConsistentRandom is consistent hashing with random tokens (Karger et al., STOC 1997;
// thesis 4.4, and 4.4.1, strategy 1, after DeCandia et al., SOSP 2007, 6.2). Each shard
// has tokens at random places of the ring, and owns the arcs of keys that end at them.
// The load is ignored. A shard that joins takes keys from others and changes nothing
// else; one that leaves gives its own keys away. To find these keys, all items of
// neighbouring arcs must be visited.
type ConsistentRandom struct{ Tokens Tokens }

// Name implements balance.Strategy.
func (ConsistentRandom) Name() string { return consistentRandomName }

// Initial implements balance.Strategy.
func (c ConsistentRandom) Initial(in balance.Input) (balance.Proposal, error) {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return balance.Proposal{}, err
	}
	return draft.Initial(in, byTokens(ring))
}

// Iterate implements balance.Strategy.
func (c ConsistentRandom) Iterate(in balance.Input) (balance.Proposal, error) {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return balance.Proposal{}, err
	}
	return draft.Iterate(in, byTokens(ring))
}

// Refuges implements balance.Refuge: the slices of a shard that leaves go to the shards
// of the next tokens.
func (c ConsistentRandom) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return nil
	}
	return draft.Refuges(in, leaving, byTokens(ring))
}

// byTokens is the layout of a ring of tokens.
type byTokens []token

// Pieces implements draft.Layout.
func (r byTokens) Pieces() []draft.Piece { return arcs(r) }

// Next implements draft.Layout.
func (r byTokens) Next(keys balance.Interval, good func(balance.ShardID) bool) balance.ShardID {
	return successor(r, keys.Hi, good)
}
