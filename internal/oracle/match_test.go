package oracle_test

import (
	"testing"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// one returns an oracle with a single keyword.
func one(t *testing.T, text string, mt search.MatchType, languages []string) *oracle.Oracle {
	t.Helper()
	o, err := oracle.New(
		[]*backend.Advertiser{{ID: 1, AdvertiserSettings: backend.AdvertiserSettings{Enabled: true}}},
		[]*backend.Campaign{{ID: 1, AdvertiserID: 1, CampaignSettings: backend.CampaignSettings{Enabled: true, Languages: backend.LanguagesOf(languages...)}}},
		[]*backend.Item{{
			Group:    backend.Group{ID: 1, CampaignID: 1, AdvertiserID: 1, GroupSettings: backend.GroupSettings{Enabled: true, Bid: 1e6, HasBid: true}},
			Keywords: []backend.Keyword{{ID: 1, GroupID: 1, Text: text, Type: mt, KeywordSettings: backend.KeywordSettings{Enabled: true, Quality: 5}}},
			Ads:      []backend.Ad{{ID: 1, GroupID: 1, Enabled: true, Headlines: []string{"x"}}},
		}}, oracletest.Lexicon())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMatching tests the clauses of serving.md §2 with examples written by hand.
func TestMatching(t *testing.T) {
	en, cs := []string{"en"}, []string{"cs"}
	def, sklik := search.DefaultProfile(), search.SklikProfile()
	broad := func(r search.Rule) search.Profile { return search.Profile{search.Broad: r} }
	run := broad(search.Rule{Others: true, Adjacent: true, Reach: search.Folded})
	same := broad(search.Rule{Reach: search.Folded})
	subsequence := broad(search.Rule{Others: true, Ordered: true, Reach: search.Folded})
	sequence := broad(search.Rule{Ordered: true, Reach: search.Folded})
	const none = search.NoLevel
	for _, c := range []struct {
		keyword   string
		mt        search.MatchType
		languages []string
		query     string
		profile   search.Profile
		want      search.Level
	}{
		{"usb cable", search.Exact, en, "USB cable", def, search.Identical},
		{"usb cable", search.Exact, en, "usb cables", def, none}, // reaches only folded forms
		{"usb cable", search.Exact, en, "cable usb", def, none},
		{"usb cable", search.Exact, en, "usb usb cable", def, none},
		{"café", search.Exact, nil, "cafe", def, search.Folded},
		{"usb cable", search.Phrase, en, "new usb cables here", def, search.Inflected},
		{"usb cable", search.Phrase, nil, "new usb cables here", def, none}, // no language
		{"usb cable", search.Phrase, []string{"de"}, "usb cables", def, none},
		{"usb cable", search.Phrase, en, "usb new cable", def, none},
		{"usb cable", search.Phrase, en, "cable usb", def, none},
		{"usb cable", search.Phrase, en, "cable usb", sklik, search.Identical},
		{"usb cable", search.Phrase, en, "usb cables, usb cable", def, search.Identical}, // the best place counts
		{"café café", search.Phrase, nil, "cafe café cafe", def, search.Folded},
		{"café café", search.Broad, nil, "cafe café", def, search.Identical}, // as a set, each word at its best place
		{"phone", search.Broad, en, "telephone", def, search.Synonym},
		{"phone", search.Broad, cs, "telephone", def, none},
		{"phone", search.Phrase, en, "telephone", def, none},
		{"phones", search.Broad, en, "telephone", def, none}, // a synonym of phone, not of its other forms
		{"lamp lights", search.Broad, en, "light", def, search.Synonym},
		{"phone mobil", search.Broad, []string{"cs", "en"}, "telephone telefon", def, none}, // all words need the same language
		{"usb cable", search.Broad, en, "cable", def, none},
		{"usb cable", search.Broad, en, "cable x usb", run, none},
		{"usb cable", search.Broad, en, "x cable usb y", run, search.Identical},
		{"usb café", search.Broad, nil, "usb cafe café", run, search.Identical},
		{"usb café", search.Broad, nil, "usb cafe x café", run, search.Folded},
		{"usb café", search.Broad, nil, "café cafe usb", same, search.Identical},
		{"usb café", search.Broad, nil, "café usb x", same, none},
		{"usb usb", search.Broad, nil, "usb", same, search.Identical},
		{"usb cable", search.Broad, nil, "x usb y cable", subsequence, search.Identical},
		{"usb cable", search.Broad, nil, "cable usb", subsequence, none},
		{"café usb café", search.Broad, nil, "cafe café usb cafe", subsequence, search.Folded},
		{"usb cable", search.Broad, nil, "usb cable", sequence, search.Identical},
		{"usb cable", search.Broad, nil, "usb cable x", sequence, none},
		{"手机", search.Broad, nil, "红色手机壳", def, search.Identical},
		{"机壳", search.Phrase, nil, "手机壳", def, search.Identical},
		{"手壳", search.Broad, nil, "手机壳", def, none}, // a run stays adjacent
		{"机手", search.Broad, nil, "手机", def, none},  // and in order
		{"手机壳", search.Broad, nil, "手机 壳", def, search.Identical},
		{"手机壳", search.Broad, nil, "手机x壳", def, none},
		{"壳 手机", search.Broad, nil, "手机壳", def, search.Identical},
		{"壳 手机", search.Phrase, nil, "手机壳", def, none},
		{"手机 壳", search.Exact, nil, "手机壳", def, search.Identical},
		{"手机", search.Exact, nil, "手机壳", def, none},
		{"iphone15手机壳", search.Exact, nil, "iPhone15 手机壳", def, search.Identical},
		{"iphone15手机壳", search.Broad, nil, "手机壳 iphone15", def, search.Identical},
		{"手机壳", search.Broad, en, "手机", def, none},
		{"スマホ", search.Broad, nil, "スマホケース", def, none}, // katakana is one unit
		{"スマホケース", search.Broad, nil, "スマホ ケース", def, none},
		{"ｶﾞｽ", search.Broad, nil, "ガス会社", def, search.Identical},
		{"คลอง", search.Broad, nil, "ตลาดคลองสาน", def, search.Identical},
		{"手机 机壳", search.Broad, nil, "手机壳", run, search.Identical},
		{"手机 壳", search.Broad, nil, "x 壳手机 y", run, search.Identical},
		{"手机 手机壳", search.Broad, nil, "手机壳", same, search.Identical},
		{"手机", search.Broad, nil, "手机壳", same, none},
		{"手机 壳", search.Broad, nil, "手机红壳", subsequence, search.Identical},
		{"手机 机", search.Broad, nil, "手机", subsequence, none}, // no unit twice
	} {
		o := one(t, c.keyword, c.mt, c.languages)
		judged, err := o.Explain(oracle.Request{Text: c.query, Profile: c.profile, Variants: search.Synonym, Slots: 4})
		if err != nil {
			t.Fatal(err)
		}
		got := none
		if len(judged) > 0 {
			got = judged[0].Level
		}
		if got != c.want {
			t.Errorf("%s %q %v asked %q: got %v, want %v", c.mt, c.keyword, c.languages, c.query, got, c.want)
		}
	}
}

// TestRefuses: queries that are too long or not valid UTF-8 are rejected.
func TestRefuses(t *testing.T) {
	o := one(t, "usb", search.Broad, nil)
	for _, text := range []string{"\xff", string(make([]byte, 1025))} {
		if _, err := o.Search(oracle.Request{Text: text, Slots: 1}); err == nil {
			t.Errorf("%.10q is not refused", text)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	items := make([]*backend.Item, 1000)
	for i := range items {
		items[i] = &backend.Item{Group: backend.Group{ID: uint64(i + 1), CampaignID: 1, AdvertiserID: 1, GroupSettings: backend.GroupSettings{Enabled: true}}}
		for j, text := range []string{"usb cable", "boty", "light lamp", "běžecké boty"} {
			items[i].Keywords = append(items[i].Keywords, backend.Keyword{ID: uint64(4*i + j + 1), Text: text, KeywordSettings: backend.KeywordSettings{Enabled: true, Quality: 5}, Type: search.Broad})
		}
	}
	o, err := oracle.New([]*backend.Advertiser{{ID: 1}}, []*backend.Campaign{{ID: 1, AdvertiserID: 1, CampaignSettings: backend.CampaignSettings{Languages: backend.LanguagesOf("en")}}}, items, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := o.Search(oracle.Request{Text: "usb cables", Profile: search.DefaultProfile(), Variants: search.Synonym, Slots: 4}); err != nil {
			b.Fatal(err)
		}
	}
}
