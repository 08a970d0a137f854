package oracletest

import (
	"slices"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/search"
)

// Crowd gives the groups of a world keywords with the same text, so that a query for it has many candidates.
func Crowd(t *rapid.T, w *World, text string) {
	for _, it := range w.Items {
		for _, kind := range []search.MatchType{search.Broad, search.Exact, search.Phrase} {
			k := backend.Keyword{GroupID: it.Group.ID, Text: text, Words: normalised(text), Type: kind}
			same := func(o backend.Keyword) bool { return o.Words == k.Words && o.Type == k.Type }
			if rapid.Bool().Draw(t, "not this one") || slices.ContainsFunc(it.Keywords, same) {
				continue
			}
			k.Enabled, k.Quality, k.HasBid, k.FinalURL = true, drawQuality(t), true, drawURL(t)
			k.Bid = rapid.Uint64Range(9, 15).Draw(t, "bid") * 50_000
			k.ID = take(&w.next.keyword)
			it.Keywords = append(slices.Clip(it.Keywords), k)
		}
	}
}

// DrawPlacements draws the placements of a page for worlds that Target has changed, and the most places that an advertiser may
// have.
func DrawPlacements(t *rapid.T) (list []oracle.Placement, perAdvertiser int) {
	for range oneOf(t, "placements", []int{2, 1, 3, 8}) {
		p := oracle.Placement{
			Slots:   oneOf(t, "slots", []int{1, 2, 2}),
			Reserve: oneOf(t, "reserve", []uint64{10_000, 10_000, 500_000, 600_000}),
		}
		if rapid.Bool().Draw(t, "blocks") {
			c := DrawContext(t)
			p.Advertisers, p.Domains, p.Categories, p.Uncategorised = c.BlockAdvertisers, c.BlockDomains, c.BlockCategories, c.BlockUncategorised
		}
		list = append(list, p)
	}
	return list, oneOf(t, "per advertiser", []int{1, 1, 2, 3, 20})
}
