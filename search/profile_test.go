package search_test

import (
	"testing"

	"adshard/search"
)

// TestOnlyBroadIsCorrected: of a profile capped at Misspelt only broad keywords that go up to synonyms go further, and no
// profile goes there by itself.
func TestOnlyBroadIsCorrected(t *testing.T) {
	for own := range search.NoLevel {
		for asked := range search.NoLevel {
			var p search.Profile
			for i := range p {
				p[i].Reach = own
			}
			p = p.Capped(asked)
			for i, r := range p {
				want := min(own, asked, search.Synonym)
				if search.MatchType(i) == search.Broad && asked == search.Misspelt && own >= search.Synonym {
					want = search.Misspelt
				}
				if r.Reach != want {
					t.Errorf("%v up to %v, asked for %v: %v, want %v", search.MatchType(i), own, asked, r.Reach, want)
				}
			}
			if p.Corrects() != (asked == search.Misspelt && own >= search.Synonym) {
				t.Errorf("up to %v, asked for %v: corrects %v", own, asked, p.Corrects())
			}
		}
	}
}
