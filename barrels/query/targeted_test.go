package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// changed applies the changes of a world to a store without a reset, so that caches are kept.
func changed(t barreltest.TB, s barrels.Store, w *oracletest.World) {
	t.Helper()
	w.Clock++
	d := barreltest.NewBuilder(t, w).All()
	d.Reset_, d.From, d.Slices = false, s.Position(), nil
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatalf("%v", err)
	}
}

// TestContextThroughChanges: answers are those of the oracle while targeting, zones, categories
// and final URLs change between queries with contexts, and caches are kept.
func TestContextThroughChanges(t *testing.T) {
	s, lex := opened(t), oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		oracletest.Target(t, &w)
		filled(t, s, &w)
		for range 3 {
			o := barreltest.Judge(t, &w, lex)
			for range 3 {
				r := oracletest.DrawRequest(t, w)
				r.Context = oracletest.DrawContext(t)
				barreltest.SameAnswer(t, s, o, r, lex)
			}
			oracletest.Target(t, &w)
			changed(t, s, &w)
		}
	})
}

// week returns a schedule of all hours with a modifier in percent.
func week(percent int) string {
	var list string
	for d := range time.Weekday(7) {
		list += fmt.Sprintf(`,{"day":%q,"from":"00:00","to":"24:00","modifier_percent":%d}`, strings.ToLower(d.String()), percent)
	}
	return "[" + list[1:] + "]"
}

// long returns a world whose n keywords are in one list of about ten blocks and have random
// bids.
func long(r *rand.Rand, n int) *oracletest.World {
	w := barreltest.Small(n, "usb")
	for i, it := range w.Items {
		w.Advertisers[i].TimeZone = "UTC"
		it.Keywords[0].Bid = 100_000 + r.Uint64N(900_000)
	}
	return w
}

// usb returns a request for the keywords of such a world.
func usb(r *rand.Rand) oracle.Request {
	return oracle.Request{
		Text: "usb", Profile: search.DefaultProfile(), Variants: search.Synonym, Slots: 1 + r.IntN(6), Reserve: 10_000, RequestID: "r",
		Device:  search.Device(r.IntN(int(search.Devices))),
		Context: &oracle.Context{Time: time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC), Locations: []uint32{1 + r.Uint32N(5)}, Parents: oracletest.Parents()},
	}
}

// TestEarlyStopUnderTargeting: searches that skip blocks answer as the oracle does on lists of
// many blocks, while some campaigns among untargeted ones begin and cease to bid up to ten
// times as much.
func TestEarlyStopUnderTargeting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s, w := openedWith(t, 16<<20), long(r, 1200)
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	skipped := uint64(0)
	for range 6 {
		o := barreltest.Judge(t, w, nil)
		for range 4 {
			q := usb(r)
			barreltest.SameAnswer(t, s, o, q, nil)
			a, err := s.Search(t.Context(), barreltest.Request(t, q, nil))
			if err != nil {
				t.Fatal(err)
			}
			skipped += a.Work.BlocksSkipped
		}
		for range 10 {
			c := w.Campaigns[r.IntN(len(w.Campaigns))]
			c.Schedule, c.Locations = "", ""
			switch percent := []int{900, 900, 300, 50, -50, -90}[r.IntN(6)]; r.IntN(4) {
			case 0:
				c.Schedule = week(percent)
			case 1:
				c.Locations = fmt.Sprintf(`[{"id":%d,"modifier_percent":%d},{"id":1}]`, 2+r.IntN(4), percent)
			case 2:
				c.Schedule, c.Locations = week(percent), fmt.Sprintf(`[{"id":%d,"exclude":true}]`, 1+r.IntN(5))
			}
		}
		changed(t, s, w)
	}
	if skipped == 0 {
		t.Error("no block was skipped")
	}
}

// TestOneCampaignLoosensNoOther: if a campaign bids ten times as much, but still not enough,
// searches read only its own blocks in addition, whether or not blocks are cached.
func TestOneCampaignLoosensNoOther(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	w := long(r, 1200)
	w.Items[700].Keywords[0].Bid = 10_000
	type change struct {
		cache  uint64
		target func()
	}
	schedule, location := func() { w.Campaigns[700].Schedule = week(900) }, func() { w.Campaigns[700].Locations = `[{"id":1,"modifier_percent":900}]` }
	for name, c := range map[string]change{
		"schedule": {16 << 20, schedule}, "location": {16 << 20, location}, "not cached": {0, schedule},
	} {
		t.Run(name, func(t *testing.T) {
			s := openedWith(t, c.cache)
			w.Campaigns[700].Schedule, w.Campaigns[700].Locations = "", ""
			if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
				t.Fatal(err)
			}
			q := usb(r)
			q.Context.Locations = []uint32{1}
			read := func() uint64 {
				var a *search.Answer
				for range 2 { // the first pass fills caches
					var err error
					if a, err = s.Search(t.Context(), barreltest.Request(t, q, nil)); err != nil {
						t.Fatal(err)
					}
				}
				return a.Work.BlocksRead
			}
			before := read()
			c.target()
			changed(t, s, w)
			if after := read(); after > before+1 {
				t.Errorf("%d blocks are read, %d before", after, before)
			}
		})
	}
}

// TestHostsOfChangedAds: a request that blocks domains is checked against the current URLs of
// ads.
func TestHostsOfChangedAds(t *testing.T) {
	s, w := openedWith(t, 16<<20), barreltest.Small(3, "usb")
	q := usb(rand.New(rand.NewPCG(3, 3)))
	q.Context.BlockDomains = []string{"example.com"}
	if err := s.Apply(t.Context(), barreltest.NewBuilder(t, w).All()); err != nil {
		t.Fatal(err)
	}
	for i, url := range []string{"https://example.com", "https://other.example", "https://shop.example.com/x", "https://other.example/y", ""} {
		w.Items[1].Ads[0].FinalURL = url
		changed(t, s, w)
		o := barreltest.Judge(t, w, nil)
		barreltest.SameAnswer(t, s, o, q, nil)
		a, err := s.Search(t.Context(), barreltest.Request(t, q, nil))
		if err != nil || len(a.Hits) != []int{0, 1, 0, 1, 1}[i] {
			t.Errorf("%q: %d hits, %v", url, len(a.Hits), err)
		}
	}
}
