package paired

import (
	"context"
	"slices"

	"adshard/bench/layouts"
)

// Truth finds what each query matches by looking at every keyword once: the
// number of matches and the sum of ids. like, if not nil, holds, for each
// keyword, the keyword whose words it has.
func Truth(ctx context.Context, set *layouts.Set, like []uint32, queries []*layouts.Query) ([]layouts.Found, error) {
	asking := whoAsks(set, queries)
	found := make([]layouts.Found, len(queries))
	for i := range set.Len() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		words := set.Of(i)
		if like != nil {
			words = set.Of(int(like[i]))
		}
		if len(words) == 0 {
			continue // a keyword without words does not count
		}
		rarest := slices.MinFunc(words, func(a, b uint32) int { return len(asking[a]) - len(asking[b]) })
		for _, q := range asking[rarest] {
			if asksAll(q, words, asking) {
				found[q].Matches++
				found[q].Sum += set.ID(i)
			}
		}
	}
	return found, nil
}

// whoAsks returns, for each word, the queries that have it, in order.
func whoAsks(set *layouts.Set, queries []*layouts.Query) [][]uint32 {
	number := make(map[string]uint32, len(set.Words))
	for i, w := range set.Words {
		number[w] = uint32(i)
	}
	asking := make([][]uint32, len(set.Words))
	for q := range queries {
		for _, w := range queries[q].Words {
			if n, ok := number[w]; ok {
				asking[n] = append(asking[n], uint32(q))
			}
		}
	}
	return asking
}

// asksAll reports whether a query has all of the words.
func asksAll(query uint32, words []uint32, asking [][]uint32) bool {
	for _, w := range words {
		if _, ok := slices.BinarySearch(asking[w], query); !ok {
			return false
		}
	}
	return true
}
