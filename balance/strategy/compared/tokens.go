package compared

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"adshard/balance"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
	"adshard/fault"
)

// Tokens says how many tokens consistent hashing gives a shard (thesis 4.4): Factor
// times the natural logarithm of Shards. Shards is an upper bound of the number of
// shards: with the real number, each shard that joins would make all shards draw new
// tokens. A shard of share s has s times as many tokens (in the thesis all shards are
// equal). The places of tokens follow from the shard's name, so that a shard that comes
// back has the same ones.
type Tokens struct {
	Factor float64
	Shards int
	Seed   uint64
}

// mostTokens is the greatest number of tokens of all shards together. Each token makes
// one slice.
const mostTokens = 250_000

// token is a place on the ring. Its shard owns the arc of keys that ends there,
// including the token's own key. The arc of the first token wraps around the end of the
// ring.
type token struct {
	key   balance.Key
	shard balance.ShardID
}

func readTokens(r *options.Reader) Tokens {
	t, seed := Tokens{Factor: 22, Shards: 100}, 1
	r.Number(&t.Factor, "factor", 0.01, 1000, "tokens of a shard, times the logarithm of the greatest number of shards")
	r.Count(&t.Shards, "nodes", 100_000, "greatest number of shards that there will be")
	r.Count(&seed, "seed", math.MaxInt32, "decides where tokens lie")
	t.Seed = uint64(seed)
	return t
}

// each returns the number of tokens of a shard of share 1.
func (t Tokens) each() int {
	return max(1, int(math.Ceil(t.Factor*math.Log(float64(max(2, t.Shards))))))
}

// of returns the tokens of a shard.
func (t Tokens) of(sh balance.Shard, share uint64) []token {
	list, hash := make([]token, uint64(t.each())*share), draft.Mix(t.Seed, xxhash.Sum64String(sh.Name))
	for i := range list {
		list[i] = token{key: balance.Key(draft.Mix(hash, uint64(i))), shard: sh.ID}
	}
	return list
}

// ring returns the tokens of all active shards in ascending order of keys. Errors:
// fault.Invalid if there are too many tokens.
func (t Tokens) ring(in balance.Input) (list []token, err error) {
	count := uint64(0)
	for _, sh := range in.Model.Shards() {
		if sh.State == balance.Active {
			count += uint64(t.each()) * draft.ShareOf(in, sh.ID)
		}
	}
	if count > mostTokens {
		return nil, fault.Newf(fault.Invalid, "strategy: place tokens",
			"the shards would have %d tokens, at most %d are possible: lower the option factor, or the shards' shares", count, mostTokens)
	}
	for _, sh := range in.Model.Shards() {
		if sh.State == balance.Active {
			list = append(list, t.of(sh, draft.ShareOf(in, sh.ID))...)
		}
	}
	slices.SortFunc(list, func(a, b token) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.shard, b.shard)) })
	return slices.CompactFunc(list, func(a, b token) bool { return a.key == b.key }), nil
}

// owner returns the index of the token that owns a key.
func owner(ring []token, k balance.Key) int {
	i := sort.Search(len(ring), func(i int) bool { return ring[i].key >= k })
	return i % len(ring)
}

// successor returns the shard of the first token at or after a key whose shard is good,
// or 0 if there is none.
func successor(ring []token, k balance.Key, good func(balance.ShardID) bool) balance.ShardID {
	if len(ring) == 0 {
		return 0
	}
	asked := make(map[balance.ShardID]bool)
	for i, at := 0, owner(ring, k); i < len(ring); i, at = i+1, (at+1)%len(ring) {
		shard := ring[at].shard
		if asked[shard] {
			continue
		}
		if asked[shard] = true; good(shard) {
			return shard
		}
	}
	return 0
}

// arcs returns the arcs of a ring with their shards.
func arcs(ring []token) []draft.Piece {
	why := func(t token) string {
		return fmt.Sprintf("the arc that ends at the token %x of shard %d", uint64(t.key), t.shard)
	}
	list := []draft.Piece{{Shard: ring[0].shard, Why: why(ring[0])}}
	for i, t := range ring {
		if t.key < balance.MaxKey {
			next := ring[(i+1)%len(ring)]
			list = append(list, draft.Piece{Lo: t.key + 1, Shard: next.shard, Why: why(next)})
		}
	}
	return list
}
