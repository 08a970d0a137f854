package backendtest

import (
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/search"
)

const (
	// FillKeywords is the number of keywords that Fill writes to a group.
	FillKeywords = 11
	fillTx       = 20_000 // rows of a transaction
)

// Fill writes data for benchmarks as an import does: groups of 11 keywords, 1 negative and 1 ad.
func Fill(t testing.TB, s backend.Store, groups int) {
	t.Helper()
	for first, each := 0, fillTx/FillKeywords; first < groups; first += each {
		writes(t, s, func(w writer) {
			for i := first; i < min(first+each, groups); i++ {
				w.fillGroup(i)
			}
		})
	}
}

func (w writer) fillGroup(i int) {
	a := w.advertiser(fmt.Sprint("advertiser ", i/2000))
	c := w.campaign(a, fmt.Sprint("campaign ", i/100), backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
	g := w.group(c, fmt.Sprint("group ", i), backend.GroupPatch{Bid: backend.To[uint64](1_000_000)})
	for k := range FillKeywords {
		words := fmt.Sprintf("usb cable %d metres model %d", k*7919%11, i)
		w.keyword(g, backend.KeywordPatch{Text: words, Words: words, Type: search.MatchType(k % 3), Bid: backend.To(uint64(k) * 1000)})
	}
	w.negative(backend.NegativeOwner{Group: g}, "free", backend.Keep)
	w.must(w.Ad(w.ctx, g, backend.AdPatch{
		Headlines:    []string{"Cables of all kinds", "Fast delivery", fmt.Sprint("Model ", i)},
		Descriptions: []string{"Buy a cable today.", "Free returns within thirty days."},
		Path1:        "cables", FinalURL: fmt.Sprint("https://shop.example/cable/", i),
	}))
}
