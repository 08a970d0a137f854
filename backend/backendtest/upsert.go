package backendtest

import (
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

func upsertClauses() []clause {
	return []clause{
		{"defaults on creation", testDefaults},
		{"a second run changes nothing", testSecondRun},
		{"nil fields keep the present value, reset restores the default", testPatches},
		{"a keyword's later row updates text and values, the id stays", testKeywordUpdate},
		{"an ad's later row changes its status only", testAdUpdate},
		{"natural keys are exact", testNaturalKeys},
		{"ids follow first appearance without holes", testIDs},
		{"a rollback leaves nothing, no id is lost", testRollback},
		{"values out of range are refused and change nothing", testInvalid},
		{"changes that cancel each other move no clock", testCancelOut},
		{"many rows in one transaction", testManyRows},
		{"a transaction that is over refuses", testOver},
	}
}

func testDefaults(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		_, g := w.path("G")
		w.words(g, "usb cable")
	})
	n := ReadNow(t, s)
	if a := n.Advertisers[1]; a.Name != "A" || !a.Enabled || a.TimeZone != "UTC" || a.Version == 0 {
		t.Errorf("advertiser: %+v", a)
	}
	c := n.Campaigns[1]
	if c.Name != "C" || !c.Enabled || c.BudgetExhausted || c.HasBudget || c.StandardDelivery || c.RotateEvenly ||
		len(c.Languages) != 0 || c.AdvertiserID != 1 {
		t.Errorf("campaign: %+v", c)
	}
	it := n.Items[1]
	if g := it.Group; !g.Enabled || g.HasBid || g.CampaignID != 1 || g.AdvertiserID != 1 || g.Modifiers[0].Set {
		t.Errorf("group: %+v", g)
	}
	want := backend.Keyword{ID: 1, GroupID: 1, Text: "usb cable", Words: "usb cable", Type: search.Broad, KeywordSettings: backend.KeywordSettings{Enabled: true, Quality: backend.DefaultQuality}}
	if k := it.Keywords[0]; k != want {
		t.Errorf("keyword: %+v", k)
	}
}

// sample writes at least one entity of each kind.
func sample(w writer) {
	w.t.Helper()
	c, g := w.path("G")
	w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{TimeZone: backend.To("Europe/Prague")}))
	w.campaign(1, "C", backend.CampaignPatch{DailyBudget: backend.To[uint64](5), StandardDelivery: backend.To(true), Languages: backend.To(backend.LanguagesOf("en", "cs")),
		Modifiers: [search.Devices]backend.Patch[uint16]{{}, backend.To[uint16](500)}})
	w.words(g, "usb cable", "hdmi", "kabel")
	w.negative(backend.NegativeOwner{Campaign: c}, "free", backend.Keep)
	w.negative(backend.NegativeOwner{Group: g}, "used", backend.Pause)
	w.negative(backend.NegativeOwner{Advertiser: 1}, "never", backend.Keep)
	w.ad(g, "Cables", backend.Keep)
}

func testSecondRun(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	before, clock := ReadNow(t, s), clockOf(t, s)
	writes(t, s, sample)
	if now := clockOf(t, s); now != clock {
		t.Errorf("the clock moved from %d to %d", clock, now)
	}
	if d := Differ(ReadNow(t, s), before); d != "" {
		t.Error(d)
	}
}

func testPatches(t *testing.T, f Factory) {
	s := open(t, f)
	set := [search.Devices]backend.Patch[uint16]{backend.To[uint16](0), backend.To[uint16](10000), {}}
	writes(t, s, func(w writer) {
		c := w.campaign(w.advertiser("A"), "C", backend.CampaignPatch{
			Status: backend.Pause, DailyBudget: backend.To[uint64](7), StandardDelivery: backend.To(true), Modifiers: set,
			Languages: backend.To(backend.LanguagesOf("en", "cs", "en")), RotateEvenly: backend.To(true),
		})
		w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Pause, TimeZone: backend.To("Asia/Tokyo")}))
		g := w.group(c, "G", backend.GroupPatch{Status: backend.Pause, Bid: backend.To[uint64](0), Modifiers: set})
		w.keyword(g, backend.KeywordPatch{Text: "x", Words: "x", Status: backend.Pause, Bid: backend.To[uint64](0), Quality: backend.To[uint8](9)})
	})
	full := ReadNow(t, s)
	if a := full.Advertisers[1]; a.Enabled || a.TimeZone != "Asia/Tokyo" {
		t.Errorf("advertiser: %+v", a)
	}
	if c := full.Campaigns[1]; c.Enabled || !c.HasBudget || c.DailyBudget != 7 || !c.StandardDelivery || !c.RotateEvenly || c.Languages != "cs en" ||
		c.Modifiers != [search.Devices]backend.Modifier{{Set: true}, {Set: true, Permille: 10000}, {}} {
		t.Errorf("campaign: %+v", c)
	}
	if k := full.Items[1].Keywords[0]; k.Enabled || !k.HasBid || k.Bid != 0 || k.Quality != 9 {
		t.Errorf("keyword: %+v", k)
	}
	writes(t, s, func(w writer) {
		_, g := w.path("G")
		w.keyword(g, backend.KeywordPatch{Text: "x", Words: "x"})
		w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{}))
	})
	if d := Differ(ReadNow(t, s), full); d != "" {
		t.Errorf("empty patches changed:\n%s", d)
	}
	writes(t, s, func(w writer) {
		reset := [search.Devices]backend.Patch[uint16]{{Op: backend.Reset}, {Op: backend.Reset}, {Op: backend.Reset}}
		c := w.campaign(1, "C", backend.CampaignPatch{
			Status: backend.Enable, DailyBudget: backend.Patch[uint64]{Op: backend.Reset}, Modifiers: reset,
			Languages: backend.Patch[backend.Languages]{Op: backend.Reset}, RotateEvenly: backend.Patch[bool]{Op: backend.Reset},
			StandardDelivery: backend.Patch[bool]{Op: backend.Reset},
		})
		w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Enable, TimeZone: backend.Patch[string]{Op: backend.Reset}}))
		g := w.group(c, "G", backend.GroupPatch{Status: backend.Enable, Bid: backend.Patch[uint64]{Op: backend.Reset}, Modifiers: reset})
		w.keyword(g, backend.KeywordPatch{Text: "x", Words: "x", Status: backend.Enable,
			Bid: backend.Patch[uint64]{Op: backend.Reset}, Quality: backend.Patch[uint8]{Op: backend.Reset}})
	})
	other := open(t, f)
	writes(t, other, func(w writer) {
		_, g := w.path("G")
		w.keyword(g, backend.KeywordPatch{Text: "x", Words: "x"})
	})
	if d := Differ(ReadNow(t, s), ReadNow(t, other)); d != "" {
		t.Errorf("reset is not the default:\n%s", d)
	}
}

func testKeywordUpdate(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		_, g := w.path("G")
		w.words(g, "usb cable", "hdmi")
	})
	for range 2 { // once with the row only in the database, once with it in the cache
		writes(t, s, func(w writer) {
			w.keyword(1, backend.KeywordPatch{Text: "USB cable", Words: "usb cable", Type: search.Broad, Bid: backend.To[uint64](3)})
			w.keyword(1, backend.KeywordPatch{Text: "USB  Cable", Words: "usb cable", Type: search.Broad, Bid: backend.To[uint64](4)})
		})
	}
	k := ReadNow(t, s).Items[1].Keywords
	if len(k) != 2 || k[0].ID != 1 || k[0].Text != "USB  Cable" || k[0].Bid != 4 || k[1].ID != 2 {
		t.Errorf("%+v", k)
	}
}

func testAdUpdate(t *testing.T, f Factory) {
	s := open(t, f)
	full := backend.AdPatch{
		Headlines: []string{"One", `Two "quoted"`, "", "ž<>&"}, Descriptions: []string{"a\nb", `back\slash`},
		Path1: "p", Path2: "q", FinalURL: "https://a.example/?x=1&y=2",
	}
	writes(t, s, func(w writer) {
		_, g := w.path("G")
		w.must(w.Ad(w.ctx, g, full))
		w.must(w.Ad(w.ctx, g, backend.AdPatch{Headlines: []string{"One"}, Status: backend.Pause}))
	})
	writes(t, s, func(w writer) {
		again := full
		again.Status = backend.Pause
		w.must(w.Ad(w.ctx, 1, again))
		w.must(w.Ad(w.ctx, 1, backend.AdPatch{Headlines: []string{"One"}}))
	})
	ads := ReadNow(t, s).Items[1].Ads
	want := []backend.Ad{
		{ID: 1, GroupID: 1, Headlines: full.Headlines, Descriptions: full.Descriptions, Path1: "p", Path2: "q", FinalURL: full.FinalURL},
		{ID: 2, GroupID: 1, Headlines: []string{"One"}},
	}
	for i, a := range ads {
		if line("", a) != line("", want[i]) {
			t.Errorf("got  %+v\nwant %+v", a, want[i])
		}
	}
}

func testNaturalKeys(t *testing.T, f Factory) {
	s := open(t, f)
	names := []string{"Shop", "shop", "Shöp", "Sho\u0308p", "Shop 2"}
	writes(t, s, func(w writer) {
		for _, n := range names {
			a := w.advertiser(n)
			for _, n := range names {
				c := w.campaign(a, n, backend.CampaignPatch{})
				w.group(c, n, backend.GroupPatch{})
			}
		}
		for m := range search.MatchTypes {
			w.keyword(1, backend.KeywordPatch{Text: "a", Words: "a", Type: search.MatchType(m)})
			w.keyword(1, backend.KeywordPatch{Text: "a b", Words: "a b", Type: search.MatchType(m)})
			w.keyword(1, backend.KeywordPatch{Text: "b a", Words: "b a", Type: search.MatchType(m)})
			w.must(w.Negative(w.ctx, backend.NegativeOwner{Group: 1}, backend.NegativePatch{Text: "a", Words: "a", Type: search.MatchType(m)}))
		}
	})
	want := backend.Counts{Advertisers: 5, Campaigns: 25, Groups: 25, Keywords: 9, Negatives: 3}
	if n, err := s.Counts(t.Context()); err != nil || n != want {
		t.Errorf("%+v, %v", n, err)
	}
}

func testIDs(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	writes(t, s, func(w writer) {
		_, g := w.path("G")
		w.words(g, "a", "b", "a", "c")
		_, g2 := w.path("H")
		w.words(g2, "a")
		w.words(g, "d")
		w.negative(backend.NegativeOwner{Campaign: 1}, "x", backend.Keep)
		w.negative(backend.NegativeOwner{Group: g}, "x", backend.Keep)
	})
	closing(t, s)
	s = openAt(t, p)
	writes(t, s, func(w writer) {
		_, g := w.path("I")
		w.words(g, "a")
		w.negative(backend.NegativeOwner{Group: g}, "x", backend.Keep)
	})
	n := ReadNow(t, s)
	got := fmt.Sprint(keywordIDs(n, 1), keywordIDs(n, 2), keywordIDs(n, 3))
	if got != "[1 2 3 5] [4] [6]" {
		t.Errorf("keyword ids %s", got)
	}
	if c, a, b := n.Campaigns[1].Negatives[0].ID, n.Items[1].Negatives[0].ID, n.Items[3].Negatives[0].ID; c != 1 || a != 2 || b != 3 {
		t.Errorf("negative ids %d %d %d", c, a, b)
	}
}

func keywordIDs(s State, group uint64) (ids []uint64) {
	for _, k := range s.Items[group].Keywords {
		ids = append(ids, k.ID)
	}
	return ids
}

func testRollback(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	before, clock := ReadNow(t, s), clockOf(t, s)
	w := begin(t, s)
	w.path("other")
	w.words(1, "new", "newer")
	w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Remove}))
	w.must(w.Rollback())
	w.must(w.Rollback())
	if d := Differ(ReadNow(t, s), before); d != "" || clockOf(t, s) != clock {
		t.Errorf("clock %d then %d\n%s", clock, clockOf(t, s), d)
	}
	writes(t, s, func(w writer) {
		_, g := w.path("next")
		w.words(g, "n")
		if g != 2 {
			t.Errorf("group %d, want 2", g)
		}
	})
	if ids := keywordIDs(ReadNow(t, s), 2); len(ids) != 1 || ids[0] != 4 {
		t.Errorf("keyword ids %v, want [4]", ids)
	}
}

func testInvalid(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	before := ReadNow(t, s)
	w := begin(t, s)
	for name, err := range map[string]error{
		"no words":    w.Keyword(w.ctx, 1, backend.KeywordPatch{}),
		"match type":  w.Keyword(w.ctx, 1, backend.KeywordPatch{Text: "x", Words: "x", Type: 3}),
		"quality 0":   w.Keyword(w.ctx, 1, backend.KeywordPatch{Text: "x", Words: "x", Quality: backend.To[uint8](0)}),
		"quality 11":  w.Keyword(w.ctx, 1, backend.KeywordPatch{Text: "x", Words: "x", Quality: backend.To[uint8](11)}),
		"negative":    w.Negative(w.ctx, backend.NegativeOwner{Group: 1}, backend.NegativePatch{Type: search.Broad}),
		"group's bid": second(w.Group(w.ctx, 1, "new", backend.GroupPatch{Bid: backend.To[uint64](1 << 63)})),
		"modifier":    second(w.Campaign(w.ctx, 1, "new", backend.CampaignPatch{Modifiers: [search.Devices]backend.Patch[uint16]{backend.To[uint16](10001)}})),
		"time zone":   w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Pause, TimeZone: backend.To("Europe/Nowhere")}),
		"budget":      second(w.Campaign(w.ctx, 1, "C", backend.CampaignPatch{Status: backend.Pause, DailyBudget: backend.To[uint64](1 << 63)})),
	} {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.commit()
	if d := Differ(ReadNow(t, s), before); d != "" {
		t.Error(d)
	}
}

func second[T any](_ T, err error) error { return err }

func testCancelOut(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	clock := clockOf(t, s)
	writes(t, s, func(w writer) {
		for _, st := range []backend.Status{backend.Pause, backend.Enable} {
			w.keyword(1, backend.KeywordPatch{Text: "hdmi", Words: "hdmi", Type: search.Broad, Status: st})
			w.group(1, "G", backend.GroupPatch{Status: st})
			w.campaign(1, "C", backend.CampaignPatch{Status: st})
			w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: st}))
			w.ad(1, "Cables", st)
		}
	})
	if now := clockOf(t, s); now != clock {
		t.Errorf("the clock moved from %d to %d", clock, now)
	}
}

// testManyRows writes more rows than fit in any buffer or cache.
func testManyRows(t *testing.T, f Factory) {
	s := open(t, f)
	const groups, each = 300, 40
	for range 2 {
		writes(t, s, func(w writer) {
			for k := range each {
				for i := range groups {
					_, g := w.path(fmt.Sprint("G", i))
					w.words(g, fmt.Sprint("word ", k))
				}
			}
		})
	}
	n := ReadNow(t, s)
	for g := range uint64(groups) {
		for k, id := range keywordIDs(n, g+1) {
			if want := uint64(k*groups) + g + 1; id != want {
				t.Fatalf("keyword %d of group %d has id %d, want %d", k, g+1, id, want)
			}
		}
	}
	if c, err := s.Counts(t.Context()); err != nil || c.Keywords != groups*each || c.Groups != groups {
		t.Errorf("%+v, %v", c, err)
	}
}

func testOver(t *testing.T, f Factory) {
	s := open(t, f)
	w := begin(t, s)
	sample(w)
	w.commit()
	_, err := w.Advertiser(w.ctx, "B")
	for name, err := range map[string]error{"write": err, "commit": w.Commit(w.ctx)} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	w.must(w.Rollback())
	if len(ReadNow(t, s).Items) != 1 {
		t.Error("a rollback after the commit undid it")
	}
}
