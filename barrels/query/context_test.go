package query_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/barrels/barreltest"
	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// TestContextIsTheOracles: with targeting and blocks, ads, prices and verdicts are those of the
// oracle, with exact counts and with an early stop, and from caches that other contexts have
// filled.
func TestContextIsTheOracles(t *testing.T) {
	s, lex := opened(t), oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		oracletest.Target(t, &w)
		if rapid.Bool().Draw(t, "only groups have targeting") {
			for _, c := range w.Campaigns {
				c.StartDate, c.EndDate, c.Schedule, c.Locations, c.Audiences, c.Sites = "", "", "", "", "", ""
			}
		}
		filled(t, s, &w)
		if rapid.Bool().Draw(t, "warm") {
			s.Warm(context.Background())
		}
		o := barreltest.Judge(t, &w, lex)
		for range 12 {
			r := oracletest.DrawRequest(t, w)
			r.Context = oracletest.DrawContext(t)
			barreltest.SameAnswer(t, s, o, r, lex)
			barreltest.SameAnswer(t, s, o, r, lex)
			if r.Variants < search.Synonym {
				barreltest.SameVerdicts(t, s, o, r)
			}
		}
	})
}

// TestNoContext: a request from a master that does not know targeting is refused if the answer
// depends on it.
func TestNoContext(t *testing.T) {
	s := opened(t)
	w := barreltest.Small(2, "usb cable")
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	r := barreltest.Request(t, oracle.Request{Text: "usb cable", Profile: search.DefaultProfile(), Variants: search.Synonym, Slots: 4, Reserve: 1}, nil)
	if a, err := s.Search(t.Context(), r); err != nil || len(a.Hits) != 2 {
		t.Fatalf("without targeting: %v, %v", a, err)
	}
	w.Campaigns[1].EndDate = "2020-01-01"
	d := barreltest.NewBuilder(t, w).All()
	if err := s.Apply(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), r); !fault.Is(err, fault.Version) {
		t.Errorf("search: %v, want Version", err)
	}
	if _, err := s.Explain(t.Context(), r, 10); !fault.Is(err, fault.Version) {
		t.Errorf("explain: %v, want Version", err)
	}
}

// TestReservesAboveImpacts: a reserve that is larger than impacts can represent still applies
// to bids that modifiers raise.
func TestReservesAboveImpacts(t *testing.T) {
	w := barreltest.Small(2, "usb cable")
	for i, c := range w.Campaigns {
		c.Locations = `[{"id":2203,"modifier_percent":50}]`
		w.Items[i].Keywords[0].Bid = 3_000_000_000 + uint64(i)*1_000_000_000 // 4.5 and 6 thousand units
	}
	s := opened(t)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	o := barreltest.Judge(t, w, nil)
	r := oracle.Request{Text: "usb cable", Profile: search.DefaultProfile(), Variants: search.Folded, Slots: 4,
		Context: &oracle.Context{Time: time.Unix(1_800_000_000, 0), Locations: []uint32{2203}}}
	for _, r.Reserve = range []uint64{1, 4_294_967_293, 4_294_967_295, 4_400_000_000, 5_000_000_000, 7_000_000_000} {
		for range 2 { // the second time from caches
			barreltest.SameAnswer(t, s, o, r, nil)
		}
	}
}

// TestFactorsAreExplained: an explanation names the device's factor, whose it is, and whether the product was clamped.
func TestFactorsAreExplained(t *testing.T) {
	w := barreltest.Small(3, "usb")
	for _, c := range w.Campaigns {
		c.Locations = `[{"id":2203,"modifier_percent":800}]`
		c.Modifiers[search.Mobile] = backend.Modifier{Set: true, Permille: 1100}
	}
	w.Items[1].Group.Modifiers[search.Mobile] = backend.Modifier{Set: true, Permille: 1200}
	w.Items[2].Group.Modifiers[search.Mobile] = backend.Modifier{Set: true, Permille: 1000}
	s := opened(t)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	r := barreltest.Request(t, oracle.Request{Text: "usb", Profile: search.DefaultProfile(), Device: search.Mobile, Slots: 4, Reserve: 1,
		Context: &oracle.Context{Time: time.Unix(1_800_000_000, 0), Locations: []uint32{2203}}}, nil)
	for _, wanted := range []search.Wanted{{}, {Keyword: 1}, {Keyword: 2}, {Keyword: 3}} {
		r.Wanted = wanted
		e, err := s.Explain(t.Context(), r, 10)
		if err != nil || len(e.Matches) == 0 {
			t.Fatalf("%+v, %v", e, err)
		}
		for _, m := range e.Matches {
			device := search.DeviceFactor{}
			if m.Device != nil {
				device = *m.Device
			}
			want := map[uint64]string{1: "9900 {1100 false} false", 2: "10000 {1200 true} true", 3: "9000 {0 false} false"}[m.Keyword]
			if got := fmt.Sprint(m.Modifier, device, m.Clamped); got != want {
				t.Errorf("keyword %d: %s, want %s", m.Keyword, got, want)
			}
		}
	}
}

// TestBlockedURLsAreExplained: an explanation says whose final URL a block meets, and the factors of the modifier all the same.
func TestBlockedURLsAreExplained(t *testing.T) {
	w := barreltest.Small(2, "usb")
	w.Items[0].Keywords[0].FinalURL = "https://shop.example.com"
	w.Campaigns[1].Locations = `[{"id":2203,"modifier_percent":50}]`
	s := opened(t)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	r := barreltest.Request(t, oracle.Request{Text: "usb", Profile: search.DefaultProfile(), Slots: 4, Reserve: 1,
		Context: &oracle.Context{Time: time.Unix(1_800_000_000, 0), Locations: []uint32{2203}, BlockDomains: []string{"example.com"}}}, nil)
	e, err := s.Explain(t.Context(), r, 10)
	if err != nil || len(e.Matches) != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, m := range e.Matches {
		want := map[uint64]string{
			1: `blocked: the request blocks "example.com", and the keyword's final URL leads to shop.example.com 1000 1000`,
			2: `blocked: the request blocks "example.com", and ad 2's final URL leads to example.com 1500 1500`,
		}[m.Keyword]
		if got := fmt.Sprintf("%v: %s %d %d", m.Verdict, m.Context.Criterion.Text, m.Context.Factors.Location, m.Modifier); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
