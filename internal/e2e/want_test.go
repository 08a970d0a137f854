package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"adshard/internal/goldentest"
)

// want is a line of the golden answers.
type want struct {
	Query, Device, Variants, Profile string
	Slots                            int
	Matched, Candidates              uint64
	Ads                              []wantAd
}

type wantAd struct {
	Advertiser, Campaign, Group, Keyword string
	MatchType                            string `json:"match_type"`
	Variant                              string
	Price                                uint64 `json:"price_micros"`
}

func difference(w want, got answer, exact bool) string {
	if !got.Coverage.Complete || !got.Coverage.PricesExact {
		return fmt.Sprintf("incomplete: %+v", got.Coverage)
	}
	if exact && (got.Matched != w.Matched || got.Candidates != w.Candidates || got.Counts != "") {
		return fmt.Sprintf("matched %d candidates %d (%s), want %d and %d", got.Matched, got.Candidates, got.Counts, w.Matched, w.Candidates)
	}
	if !exact && (got.Matched > w.Matched || got.Candidates > w.Candidates) {
		return fmt.Sprintf("matched %d candidates %d are no lower bounds of %d and %d", got.Matched, got.Candidates, w.Matched, w.Candidates)
	}
	if len(got.Ads) != len(w.Ads) {
		return fmt.Sprintf("%d ads, want %d: %+v", len(got.Ads), len(w.Ads), got.Ads)
	}
	for i, a := range got.Ads {
		b := w.Ads[i]
		if b.Variant == "" {
			b.Variant = a.Variant
		}
		if a.wantAd != b || a.Position != i+1 {
			return fmt.Sprintf("place %d: %+v, want %+v", i+1, a, b)
		}
	}
	return ""
}

// readWants returns the answers of a file of the golden set.
func readWants(t *testing.T, name string) []want {
	t.Helper()
	var list []want
	for line := range bytes.Lines(goldentest.Read(t, name)) {
		var w want
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}
