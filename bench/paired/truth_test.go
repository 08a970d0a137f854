package paired

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/bench/layouts"
)

// TestTruth compares the count with one that looks at every pair of a keyword
// and a query.
func TestTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Map(rapid.IntRange(0, 9), func(i int) string { return fmt.Sprint("w", i) })
		b := layouts.NewBuilder()
		for range rapid.IntRange(1, 30).Draw(t, "keywords") {
			for _, w := range rapid.SliceOfN(word, 1, 4).Draw(t, "words") {
				b.Word(w)
			}
			b.Keyword(1, 1)
		}
		set := b.Set()
		var queries []*layouts.Query
		for range rapid.IntRange(1, 10).Draw(t, "queries") {
			queries = append(queries, &layouts.Query{Words: rapid.SliceOfNDistinct(word, 0, 6, rapid.ID).Draw(t, "query")})
		}
		var like []uint32
		if rapid.Bool().Draw(t, "changed") {
			like = rapid.SliceOfN(rapid.Uint32Range(0, uint32(set.Len()-1)), set.Len(), set.Len()).Draw(t, "like")
		}
		got, err := Truth(context.Background(), set, like, queries)
		if err != nil {
			t.Fatal(err)
		}
		for q, query := range queries {
			var want layouts.Found
			for i := range set.Len() {
				of := i
				if like != nil {
					of = int(like[i])
				}
				if !slices.ContainsFunc(set.Of(of), func(w uint32) bool { return !slices.Contains(query.Words, set.Words[w]) }) {
					want.Matches++
					want.Sum += set.ID(i)
				}
			}
			if got[q].Matches != want.Matches || got[q].Sum != want.Sum {
				t.Fatalf("query %v: %+v, want %+v", query.Words, got[q], want)
			}
		}
	})
}
