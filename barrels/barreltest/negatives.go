package barreltest

import (
	"testing"

	"adshard/backend"
	"adshard/barrels"
	"adshard/search"
)

// advertiserNegatives checks that an advertiser's negative blocks the queries it names, and no others,
// in all groups of the advertiser. It must do so from its arrival, with its groups or without, until
// it is removed, even if results are cached.
func advertiserNegatives(t *testing.T, open Open) {
	s := open(t, "negatives")
	defer s.Close()
	w := Small(40, "usb cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	// In some rounds more advertisers are blocked than impacts keep as dominant.
	for round, blocked := range []int{0, 1, 30, 40, 0, 25} {
		change := b.All()
		change.Items, change.Campaigns, change.Reset_, change.Slices = nil, nil, false, nil
		change.From, change.To = s.Position(), At(uint64(round+2))
		for i, a := range w.Advertisers {
			negative := backend.Negative{ID: uint64(i + 1), AdvertiserID: a.ID, Text: "cable", Type: search.Broad, Enabled: len(w.Advertisers)-i <= blocked}
			of := *a
			of.Negatives = []backend.Negative{negative, {ID: 99, AdvertiserID: a.ID, Text: "free", Type: search.Broad, Enabled: i%2 == 0}}
			change.Advertisers[i] = b.advertiser(&of)
		}
		put(t, s, change)
		for range 2 {
			checkBlocked(t, s, blocked, "usb cable", uint64(40-blocked))
			checkBlocked(t, s, 0, "usb cables", 40) // negatives agree only with the word itself
		}
	}
	if t.Failed() {
		return
	}
	whole := b.All() // arrives with its groups
	whole.Reset_, whole.Slices = false, nil
	whole.From, whole.To = s.Position(), At(100)
	of := *w.Advertisers[39]
	of.Negatives = []backend.Negative{{ID: 1, AdvertiserID: 40, Text: "usb cable", Type: search.Exact, Enabled: true}}
	whole.Advertisers[39] = b.advertiser(&of)
	put(t, s, whole)
	checkBlocked(t, s, 1, "usb cable", 39)
}

// checkBlocked checks an answer and its explanation if the advertisers with the highest bids are
// blocked.
func checkBlocked(t *testing.T, s barrels.Store, blocked int, text string, candidates uint64) {
	t.Helper()
	const places = 20
	r := query(t, text)
	for _, exact := range []bool{false, true} {
		r.ExactCounts, r.Slots = exact, places
		a := ask(t, s, r)
		if len(a.Hits) != min(places+1, 40-blocked) || len(a.Hits) > 0 && a.Hits[0].Advertiser != uint64(40-blocked) ||
			a.Candidates > candidates || a.Candidates < uint64(len(a.Hits)) || exact && (a.Matched != 40 || a.Candidates != candidates) {
			t.Fatalf("%q, %d blocked, exact %v: %d hits, %d candidates of %d", text, blocked, exact, len(a.Hits), a.Candidates, a.Matched)
		}
	}
	x, err := s.Explain(t.Context(), r, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range x.Matches {
		want := search.Eligible
		if m.Advertiser > uint64(40-blocked) {
			want = search.BlockedByNegative
		}
		if m.Verdict != want || want == search.BlockedByNegative && m.NegativeOwner != "advertiser" {
			t.Fatalf("%q, %d blocked: advertiser %d is %v, by a negative of %q", text, blocked, m.Advertiser, m.Verdict, m.NegativeOwner)
		}
	}
}
