package served

import (
	"slices"
	"testing"

	"adshard/backend"
	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/internal/oracle"
	"adshard/search"
)

// TestMixed compares the layout with the oracle, and checks that there are all match
// types and negatives that exclude something.
func TestMixed(t *testing.T) {
	set, queries := layouttest.Small(t, 3000)
	m := mixedItems(set)
	var entities []*backend.Item
	types := make(map[search.MatchType]int)
	negatives := 0
	for g := range set.Groups {
		it := m.entity(g)
		negatives += len(it.Negatives)
		for _, k := range it.Keywords {
			types[k.Type]++
		}
		if len(it.Negatives) > 0 && negatives < 50 { // a query from which the negative excludes the group
			queries = append(queries, layouts.NewQueries([]string{it.Keywords[0].Text + " " + it.Negatives[0].Text})...)
		}
		entities = append(entities, it)
	}
	if types[search.Exact] < 600 || types[search.Phrase] < 600 || types[search.Broad] < 1200 || negatives*20 < len(set.Groups) {
		t.Fatalf("match types %v, %d negatives in %d groups", types, negatives, len(set.Groups))
	}
	var advertisers []*backend.Advertiser
	var campaigns []*backend.Campaign
	as, cs := m.parents()
	for _, a := range as {
		advertisers = append(advertisers, &backend.Advertiser{ID: a.Id, Name: a.Name, AdvertiserSettings: backend.AdvertiserSettings{Enabled: true}})
	}
	for _, c := range cs {
		campaigns = append(campaigns, &backend.Campaign{ID: c.Id, AdvertiserID: c.AdvertiserId, Name: c.Name, CampaignSettings: backend.CampaignSettings{Enabled: true}})
	}
	o, err := oracle.New(advertisers, campaigns, entities, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := ServedMixed{}.Build(t.Context(), set, layouts.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := store.Searcher()
	if err != nil {
		t.Fatal(err)
	}
	matches, kept := uint64(0), uint64(0)
	for _, q := range queries {
		got, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want, err := o.Search(oracle.Request{Text: q.Text, Profile: search.DefaultProfile(), Device: search.Desktop, Slots: layouts.Slots, Variants: search.Identical})
		if err != nil {
			t.Fatal(err)
		}
		var best []uint64
		for _, ad := range want.Ads {
			best = append(best, ad.Keyword.ID)
		}
		if got.Matches != want.Matched || !slices.Equal(got.Best[:min(len(best), len(got.Best))], best) {
			t.Errorf("%q: %d matches, best %v; the oracle has %d and %v", q.Text, got.Matches, got.Best, want.Matched, best)
		}
		matches, kept = matches+want.Matched, kept+want.Matched-want.Candidates
	}
	if matches == 0 || kept == 0 {
		t.Errorf("%d matches, of which negatives keep out %d", matches, kept)
	}
}
