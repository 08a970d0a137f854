package layouttest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"adshard/bench/layouts"
)

// vocabulary is small, so that keywords match and share anchors; some words are
// prefixes of others, some are not ASCII.
var vocabulary = []string{"a", "aa", "aab", "b", "ba", "c", "cé", "d", "žluť", "日本", "x1", "x10", "10"}

// sets draws small sets: some words are much more common than others, keywords
// repeat, advertisers have few or many groups, bids and qualities are often
// equal, so that ids decide.
var sets = rapid.Custom(func(t *rapid.T) *layouts.Set {
	b := layouts.NewBuilder()
	advertisers := rapid.Uint64Range(1, 12).Draw(t, "advertisers")
	words := rapid.IntRange(1, len(vocabulary)).Draw(t, "words")
	for range rapid.IntRange(1, 12).Draw(t, "groups") {
		campaign := rapid.Uint64Range(0, 3).Draw(t, "campaign")
		advertiser := rapid.Uint64Range(1, advertisers).Draw(t, "advertiser")
		b.Group(4*advertiser+campaign, advertiser)
		for range rapid.IntRange(1, 12).Draw(t, "keywords") {
			for range rapid.IntRange(1, layouts.MaxWords).Draw(t, "length") {
				b.Word(vocabulary[rapid.IntRange(0, words-1).Draw(t, "word")])
			}
			b.Keyword(rapid.Uint32Range(1, 4).Draw(t, "bid"), uint8(rapid.IntRange(1, 10).Draw(t, "quality")))
		}
	}
	return b.Set()
})

// queries draws the texts of some queries, including words that no keyword has.
var queries = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
	list := rapid.SliceOfN(rapid.SampledFrom(append([]string{"unknown", "aaa"}, vocabulary...)), 1, 32).Draw(t, "query")
	return strings.Join(list, " ")
}), 10, 20)

// changes draws some changes of a set of n keywords.
func changes(n int) *rapid.Generator[[]layouts.Change] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) layouts.Change {
		return layouts.Change{
			Keyword: rapid.IntRange(0, n-1).Draw(t, "keyword"),
			Like:    rapid.IntRange(0, n-1).Draw(t, "like"),
		}
	}), 1, 200)
}

// hardSets returns sets made from s for which no choice of anchors helps: one
// with a word that all keywords have, one with a dozen words and equal scores,
// and one with a single advertiser, which has only one best keyword.
func hardSets(s *layouts.Set) []*layouts.Set {
	flat := layouts.OnlyCommon(s, 12, 1)
	flat.Bids = slices.Repeat([]uint32{1}, flat.Len())
	flat.Qualities = slices.Repeat([]uint8{5}, flat.Len())
	return []*layouts.Set{layouts.SharedWord(s, "of"), flat, layouts.OneAdvertiser(s)}
}
