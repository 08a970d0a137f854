package barreltest

import (
	"fmt"
	"testing"

	"adshard/auction"
	"adshard/search"
)

// throttling checks that a separate draw for each request decides whether a campaign takes part,
// even if results are cached, and that a change of the share applies at once.
func throttling(t *testing.T, open Open) {
	s := open(t, "throttling")
	defer s.Close()
	w := Small(40, "usb cable")
	b := NewBuilder(t, w)
	put(t, s, b.All())
	r := query(t, "usb cable")
	for i, withheld := range []uint32{0, 500_000, 900_000, auction.Whole, 0} {
		change := b.All()
		change.Items, change.Advertisers, change.Reset_, change.Slices = nil, nil, false, nil
		change.From, change.To = s.Position(), At(uint64(i+2))
		c := b.Campaign(w.Campaigns[39])
		c.Withheld = withheld
		change.Campaigns = append(change.Campaigns[:0], c)
		put(t, s, change)
		for n := range 100 {
			r.RequestID = fmt.Sprint("request ", n)
			wantBest, wantCandidates := uint64(40), uint64(40)
			if !auction.TakesPart(r.RequestID, 40, withheld) {
				wantBest, wantCandidates = 39, 39
			}
			for _, exact := range []bool{false, true} {
				r.ExactCounts = exact
				a := ask(t, s, r)
				if a.Hits[0].Advertiser != wantBest || exact && (a.Matched != 40 || a.Candidates != wantCandidates) {
					t.Fatalf("%d withheld, %q: advertiser %d is best, %d candidates of %d; want %d and %d", withheld, r.RequestID,
						a.Hits[0].Advertiser, a.Candidates, a.Matched, wantBest, wantCandidates)
				}
			}
			checkThrottled(t, s, r, withheld, wantBest == 39)
		}
	}
}

// checkThrottled checks the explanation of the best keyword, which is that of campaign 40.
func checkThrottled(t *testing.T, s search.Explainer, r *search.Request, withheld uint32, out bool) {
	t.Helper()
	x, err := s.Explain(t.Context(), r, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, want := x.Matches[0], search.Eligible
	if out {
		want = search.Throttled
	}
	if m.Campaign != 40 || m.Verdict != want || m.Withheld != withheld {
		t.Fatalf("%d withheld, %q: campaign %d is %v with %d withheld, want %v", withheld, r.RequestID, m.Campaign, m.Verdict, m.Withheld, want)
	}
}
