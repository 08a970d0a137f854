package backendtest

import (
	"testing"

	"adshard/backend"
	"adshard/search"
)

// Everything writes entities of all kinds: one with every property at its default, and one for each property with
// another value. Checksums, records and ETags of these entities are kept in files (testdata/golden.txt of its
// callers), since they are permanent: a property that is added later must not change them as long as it has its
// default. So Everything is not extended.
func Everything(t testing.TB, s backend.Store) {
	t.Helper()
	writes(t, s, func(w writer) {
		a := w.advertiser("plain")
		zoned := w.advertiser("zoned")
		w.must(w.UpdateAdvertiser(w.ctx, zoned, backend.AdvertiserPatch{TimeZone: backend.To("Europe/Prague")}))
		w.must(w.UpdateAdvertiser(w.ctx, w.advertiser("paused"), backend.AdvertiserPatch{Status: backend.Pause}))
		w.negative(backend.NegativeOwner{Advertiser: zoned}, "never", backend.Pause)
		c := w.campaign(a, "plain", backend.CampaignPatch{})
		for _, p := range everyCampaign() {
			w.campaign(a, p.name, p.patch)
		}
		w.negative(backend.NegativeOwner{Campaign: w.campaign(a, "negative", backend.CampaignPatch{})}, "free", backend.Keep)
		g := w.group(c, "plain", backend.GroupPatch{})
		for _, p := range everyGroup() {
			w.group(c, p.name, p.patch)
		}
		for _, k := range everyKeyword() {
			w.keyword(g, k)
		}
		w.negative(backend.NegativeOwner{Group: g}, "used", backend.Pause)
		w.must(w.Ad(w.ctx, g, backend.AdPatch{Headlines: []string{"Plain"}}))
		w.must(w.Ad(w.ctx, g, backend.AdPatch{
			Headlines: []string{"One", `Two "quoted"`, "ž<>&"}, Descriptions: []string{"a\nb"}, Path1: "p", Path2: "q",
			FinalURL: "https://a.example/?x=1&y=2", Status: backend.Pause,
		}))
	})
	for id, m := range map[uint64]backend.BudgetMark{1: {Exhausted: true}, 2: {Share: backend.To[uint32](999_995)}} {
		check(t, s.SetBudget(t.Context(), id, m))
	}
}

type namedCampaign struct {
	name  string
	patch backend.CampaignPatch
}

func everyCampaign() []namedCampaign {
	modifiers := [search.Devices]backend.Patch[uint16]{backend.To[uint16](0), backend.To[uint16](1250), backend.To[uint16](10000)}
	return []namedCampaign{
		{"paused", backend.CampaignPatch{Status: backend.Pause}},
		{"budget", backend.CampaignPatch{DailyBudget: backend.To[uint64](5_000_000)}},
		{"no money", backend.CampaignPatch{DailyBudget: backend.To[uint64](0)}},
		{"desktop", backend.CampaignPatch{Modifiers: [search.Devices]backend.Patch[uint16]{search.Desktop: backend.To[uint16](0)}}},
		{"mobile", backend.CampaignPatch{Modifiers: [search.Devices]backend.Patch[uint16]{search.Mobile: backend.To[uint16](1000)}}},
		{"tablet", backend.CampaignPatch{Modifiers: [search.Devices]backend.Patch[uint16]{search.Tablet: backend.To[uint16](10000)}}},
		{"languages", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en", "cs"))}},
		{"rotation", backend.CampaignPatch{RotateEvenly: backend.To(true)}},
		{"delivery", backend.CampaignPatch{StandardDelivery: backend.To(true)}},
		{"held", backend.CampaignPatch{Hold: backend.HoldTo(backend.HeldBy(7) | backend.Refused | backend.Ended)}},
		{"all", backend.CampaignPatch{
			Status: backend.Pause, DailyBudget: backend.To[uint64](1), StandardDelivery: backend.To(true), Modifiers: modifiers,
			Languages: backend.To(backend.LanguagesOf("de")), RotateEvenly: backend.To(true), Hold: backend.HoldTo(backend.Ended),
		}},
	}
}

type namedGroup struct {
	name  string
	patch backend.GroupPatch
}

func everyGroup() []namedGroup {
	return []namedGroup{
		{"paused", backend.GroupPatch{Status: backend.Pause}},
		{"bid", backend.GroupPatch{Bid: backend.To[uint64](450_000)}},
		{"no bid", backend.GroupPatch{Bid: backend.To[uint64](0)}},
		{"mobile", backend.GroupPatch{Modifiers: [search.Devices]backend.Patch[uint16]{search.Mobile: backend.To[uint16](800)}}},
		{"held", backend.GroupPatch{Hold: backend.HoldTo(backend.HeldBy(7) | backend.Refused)}},
	}
}

func everyKeyword() []backend.KeywordPatch {
	of := func(text, words string, p backend.KeywordPatch) backend.KeywordPatch {
		p.Text, p.Words = text, words
		return p
	}
	return []backend.KeywordPatch{
		of("usb cable", "usb cable", backend.KeywordPatch{Type: search.Broad}),
		of("USB Cable", "usb cable", backend.KeywordPatch{Type: search.Phrase}),
		of("usb", "usb", backend.KeywordPatch{Type: search.Exact, Status: backend.Pause}),
		of("bid", "bid", backend.KeywordPatch{Type: search.Broad, Bid: backend.To[uint64](250_000)}),
		of("zero", "zero", backend.KeywordPatch{Type: search.Broad, Bid: backend.To[uint64](0)}),
		of("quality", "quality", backend.KeywordPatch{Type: search.Broad, Quality: backend.To[uint8](9)}),
		of("learned", "learned", backend.KeywordPatch{Type: search.Broad, Learned: backend.To(backend.NewLearned(7, 4, 1000, 31))}),
	}
}
