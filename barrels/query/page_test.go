package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/barreltest"
	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// TestPagesAreTheOracles: the ads and prices of pages with several placements are those of the
// oracle, with exact counts and with an early stop. What a page leaves in caches and buffers
// changes no plain answer.
func TestPagesAreTheOracles(t *testing.T) {
	s, lex := opened(t), oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		if rapid.Bool().Draw(t, "targeting") {
			oracletest.Target(t, &w)
		}
		oracletest.Crowd(t, &w, "usb")
		filled(t, s, &w)
		o := barreltest.Judge(t, &w, lex)
		for range 8 {
			r := oracletest.DrawRequest(t, w)
			if rapid.Bool().Draw(t, "crowded") {
				r.Text = "usb"
			}
			r.Context = oracletest.DrawContext(t)
			if rapid.Bool().Draw(t, "without blocks") {
				r.Context.BlockAdvertisers, r.Context.BlockDomains, r.Context.BlockCategories, r.Context.BlockUncategorised = nil, nil, nil, false
			}
			list, perAdvertiser := oracletest.DrawPlacements(t)
			barreltest.SamePage(t, s, o, r, list, perAdvertiser, lex)
			barreltest.SameAnswer(t, s, o, r, lex)
		}
	})
}

// TestPagesStopEarly: postings below the lists of all filters are not looked at; postings below
// the list of only one filter are.
func TestPagesStopEarly(t *testing.T) {
	const advertisers = 1000 // bids rise with ids
	s, w := opened(t), barreltest.Small(advertisers, "usb cable")
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	o := barreltest.Judge(t, w, nil)
	var most []uint64
	for id := range uint64(advertisers - 40) {
		most = append(most, id+41)
	}
	r := oracle.Request{Text: "usb cable", Profile: search.DefaultProfile(), Variants: search.Synonym, Slots: 4, RequestID: "r"}
	list := []oracle.Placement{{Slots: 1, Reserve: 1}, {Slots: 2, Reserve: 2}}
	for _, blocked := range [][]uint64{nil, most} {
		list[1].Advertisers = blocked
		barreltest.SamePage(t, s, o, r, list, 1, nil)
	}
	list[1].Advertisers = nil
	q := barreltest.Request(t, r, nil)
	barreltest.Page(q, list, 1)
	a, err := s.Search(t.Context(), q)
	if err != nil || a.CountsExact || a.Matched >= advertisers/2 {
		t.Errorf("%d counted, %v; most need not be looked at", a.Matched, err)
	}
}

// TestPagesReachModifiers: a keyword whose bid is below that of every winner can win through
// its campaign's modifier.
func TestPagesReachModifiers(t *testing.T) {
	const raised = 50
	s, w := opened(t), barreltest.Small(100, "usb") // bids rise with ids
	w.Advertisers[raised-1].TimeZone, w.Campaigns[raised-1].Schedule = "UTC", week(900)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	o, r := barreltest.Judge(t, w, nil), usb(rand.New(rand.NewPCG(1, 1)))
	list := []oracle.Placement{{Slots: 1, Reserve: 1}, {Slots: 2, Reserve: 2, Advertisers: []uint64{100}}}
	for range 2 { // the first pass fills caches
		barreltest.SamePage(t, s, o, r, list, 1, nil)
	}
	q := barreltest.Request(t, r, nil)
	barreltest.Page(q, list, 1)
	a, err := s.Search(t.Context(), q)
	if err != nil || !slices.ContainsFunc(a.Hits, func(h search.Hit) bool { return h.Campaign == raised }) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestPagesOutOfBounds: pages with values out of bounds are refused.
func TestPagesOutOfBounds(t *testing.T) {
	s := opened(t)
	r := barreltest.Request(t, oracle.Request{Text: "usb cable", Profile: search.DefaultProfile(), Variants: search.Synonym, Slots: 4}, nil)
	for name, p := range map[string]search.Page{
		"no filter":    {PerAdvertiser: 1},
		"many filters": {PerAdvertiser: 1, Filters: make([]search.Filter, search.MaxPlacements+1)},
		"no places":    {Filters: make([]search.Filter, 1)},
		"many places":  {Filters: make([]search.Filter, 1), PerAdvertiser: 21},
	} {
		r.Page = &p
		if _, err := s.Search(t.Context(), r); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
}
