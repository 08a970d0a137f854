package query_test

import (
	"strings"
	"testing"

	"adshard/barrels/barreltest"
	"adshard/search"
)

// TestKeywordsShareWhatTheirAdsShow: keywords share what their ads show, unless this depends on
// the keyword, and nothing is filled in twice.
func TestKeywordsShareWhatTheirAdsShow(t *testing.T) {
	for headline, shared := range map[string]bool{"Cables {50 %}": true, "Buy {KeyWord:Cables}": false} {
		s := opened(t)
		w := barreltest.Small(1, "usb cable", "hdmi cable")
		w.Items[0].Ads[0].Headlines = []string{headline}
		if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
			t.Fatal(err)
		}
		first, again, other := groupOf(t, s, "usb cable"), groupOf(t, s, "usb cable"), groupOf(t, s, "hdmi cable")
		if &first[0] != &again[0] || (&first[0] == &other[0]) != shared {
			t.Errorf("%s: %p, %p, %p", headline, first, again, other)
		}
		if !shared && (!strings.Contains(string(first), `["Buy Usb Cable"]`) || !strings.Contains(string(other), `["Buy Hdmi Cable"]`)) {
			t.Errorf("%s: %s, %s", headline, first, other)
		}
	}
}

// groupOf returns what the only hit of a query shows of its group.
func groupOf(t *testing.T, s search.Searcher, text string) []byte {
	t.Helper()
	q, err := search.Expand(text, search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Search(t.Context(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4})
	if err != nil || len(a.Hits) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	return a.Hits[0].Display.Group
}
