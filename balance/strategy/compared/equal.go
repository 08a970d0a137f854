package compared

import (
	"fmt"
	"math/bits"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const consistentEqualName = "consistent-equal"

// ConsistentEqual is consistent hashing with equal ranges (thesis 4.4.1, strategy 2).
// It has the tokens of ConsistentRandom, but the ring is cut into many more ranges of
// equal width. Each range goes as a whole to the first token at or after its end. When
// a shard joins, ranges must be visited, not items.
type ConsistentEqual struct {
	Tokens Tokens
	Ranges int
}

func readConsistentEqual(r *options.Reader) ConsistentEqual {
	c := ConsistentEqual{Tokens: readTokens(r), Ranges: 16_384}
	r.Count(&c.Ranges, "ranges", mostTokens, "ranges of equal width into which the ring is cut; many more than all tokens")
	return c
}

// Name implements balance.Strategy.
func (ConsistentEqual) Name() string { return consistentEqualName }

// Initial implements balance.Strategy.
func (c ConsistentEqual) Initial(in balance.Input) (balance.Proposal, error) {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return balance.Proposal{}, err
	}
	return draft.Initial(in, equal{ring, c.Ranges})
}

// Iterate implements balance.Strategy.
func (c ConsistentEqual) Iterate(in balance.Input) (balance.Proposal, error) {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return balance.Proposal{}, err
	}
	return draft.Iterate(in, equal{ring, c.Ranges})
}

// Refuges implements balance.Refuge in the same way as ConsistentRandom.
func (c ConsistentEqual) Refuges(in balance.Input, leaving []balance.Slice) []balance.ShardID {
	ring, err := c.Tokens.ring(in)
	if err != nil {
		return nil
	}
	return draft.Refuges(in, leaving, equal{ring, c.Ranges})
}

// equal is the layout of tokens over equal ranges.
type equal struct {
	ring   []token
	ranges int
}

// Pieces implements draft.Layout. It joins adjacent ranges of the same token.
func (e equal) Pieces() (list []draft.Piece) {
	last, n := -1, max(1, e.ranges)
	for i := range n {
		at := owner(e.ring, rangeEnd(i, n))
		if at == last {
			continue
		}
		last = at
		list = append(list, draft.Piece{
			Lo: rangeBegin(i, n), Shard: e.ring[at].shard,
			Why: fmt.Sprintf("the ranges whose next token, %x, is of shard %d", uint64(e.ring[at].key), e.ring[at].shard),
		})
	}
	return list
}

// Next implements draft.Layout.
func (e equal) Next(keys balance.Interval, good func(balance.ShardID) bool) balance.ShardID {
	return successor(e.ring, keys.Hi, good)
}

// rangeBegin returns the first key of one of n ranges of equal width.
func rangeBegin(i, n int) balance.Key {
	k, _ := bits.Div64(uint64(i), 0, uint64(n))
	return balance.Key(k)
}

// rangeEnd returns the last key of a range.
func rangeEnd(i, n int) balance.Key {
	if i+1 == n {
		return balance.MaxKey
	}
	return rangeBegin(i+1, n) - 1
}

// rangeOf returns the number of the range that has a key.
func rangeOf(k balance.Key, n int) int {
	i, _ := bits.Mul64(uint64(k), uint64(n))
	if rangeEnd(int(i), n) < k {
		return int(i) + 1
	}
	return int(i)
}
