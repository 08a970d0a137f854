package nodedata

import (
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

func item() *backend.Item {
	return &backend.Item{
		Group: backend.Group{
			ID: 3, CampaignID: 2, AdvertiserID: 1, Name: "Cables", GroupSettings: backend.GroupSettings{Enabled: true, Bid: 500_000, HasBid: true, Modifiers: [search.Devices]backend.Modifier{search.Mobile: {Set: true, Permille: 0}}}, Version: 9,
		},
		Keywords: []backend.Keyword{
			{ID: 7, GroupID: 3, Text: "Café cables", Words: "café cables", Type: search.Phrase, KeywordSettings: backend.KeywordSettings{Enabled: true, Quality: 5}},
			{ID: 8, GroupID: 3, Text: "usb", Words: "usb", KeywordSettings: backend.KeywordSettings{Enabled: true, HasBid: true, Quality: 10}},
		},
		Negatives: []backend.Negative{{ID: 1, GroupID: 3, Text: "FREE", Words: "free", Type: search.Broad, Enabled: true}},
		Ads:       []backend.Ad{{ID: 4, GroupID: 3, Enabled: true, Headlines: []string{"Cables"}, FinalURL: "https://shop.example/"}},
	}
}

func TestItem(t *testing.T) {
	b := New(balance.ByOwner)
	got, err := b.Item(item(), &backend.Campaign{ID: 2, AdvertiserID: 1, CampaignSettings: backend.CampaignSettings{Languages: backend.LanguagesOf("cs", "de", "en")}})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := balance.ByOwner.Key(1, 3)
	zero, bid, own := uint32(0), uint64(500_000), uint64(0)
	form := func(language string, stems ...string) *pb.Form {
		f := &pb.Form{Language: language}
		for _, s := range stems {
			f.Terms = append(f.Terms, words.Term(language, s))
		}
		return f
	}
	stem := func(language, folded string) string { s, _ := words.Stem(language, folded); return s }
	want := &pb.Item{
		Group: &pb.Group{
			Key: uint64(key), Id: 3, CampaignId: 2, AdvertiserId: 1, Name: "Cables", Enabled: true, Version: 9,
			Modifiers: &pb.Modifiers{Mobile: &zero},
			Negatives: []*pb.Negative{{Id: 1, Text: "FREE", Type: pb.MatchType_MATCH_TYPE_BROAD, Norm: []uint64{words.Hash("free")}, Enabled: true}},
			Ads:       []*pb.Ad{{Id: 4, Enabled: true, Headlines: []string{"Cables"}, FinalUrl: "https://shop.example/"}},
		},
		Keywords: []*pb.Keyword{
			{
				Id: 7, Text: "Café cables", Type: pb.MatchType_MATCH_TYPE_PHRASE, Enabled: true, Bid: &bid, BidFromGroup: true, Quality: 5,
				Norm: []uint64{words.Hash("café"), words.Hash("cables")}, Fold: []uint64{words.Hash("cafe"), words.Hash("cables")},
				Forms: []*pb.Form{
					form("cs", stem("cs", "cafe"), stem("cs", "cables")), form("en", stem("en", "cafe"), stem("en", "cables")),
				},
			},
			{
				Id: 8, Text: "usb", Enabled: true, Bid: &own, Quality: 10,
				Norm: []uint64{words.Hash("usb")}, Fold: []uint64{words.Hash("usb")},
				Forms: []*pb.Form{form("cs", stem("cs", "usb")), form("en", stem("en", "usb"))},
			},
		},
	}
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestLanguagesWithoutStemmer(t *testing.T) {
	for _, languages := range [][]string{nil, {"de"}} {
		got, err := New(balance.ByHash).Item(item(), &backend.Campaign{CampaignSettings: backend.CampaignSettings{Languages: backend.LanguagesOf(languages...)}})
		if err != nil {
			t.Fatal(err)
		}
		forms := got.Keywords[0].Forms
		if len(forms) != 1 || forms[0].Language != "" || forms[0].Terms[0] != words.Term("", "cafe") {
			t.Errorf("languages %v: forms %v, want the folded words under no language", languages, forms)
		}
	}
}

func BenchmarkItem(b *testing.B) {
	it := item()
	for len(it.Keywords) < 11 {
		it.Keywords = append(it.Keywords, it.Keywords[0])
	}
	builder, c := New(balance.ByOwner), &backend.Campaign{CampaignSettings: backend.CampaignSettings{Languages: backend.LanguagesOf("en")}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Item(it, c); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLearned: a record has the learned quality beside the given one. Without a learned quality the record is the
// same as before these existed.
func TestLearned(t *testing.T) {
	it := item()
	it.Keywords[0].Learned = backend.NewLearned(9, 3, 1000, 50)
	got, err := New(balance.ByOwner).Item(it, &backend.Campaign{ID: 2, AdvertiserID: 1})
	if err != nil {
		t.Fatal(err)
	}
	k, other := got.Keywords[0], got.Keywords[1]
	if k.Quality != 9 || k.Given != 5 || k.Learned != uint64(it.Keywords[0].Learned) || other.Quality != 10 || other.Given != 0 || other.Learned != 0 {
		t.Errorf("quality %d, given %d, learned %d; of the other %d, %d, %d", k.Quality, k.Given, k.Learned, other.Quality, other.Given, other.Learned)
	}
}

// TestExhausted: slaves get the same data for a campaign with a daily budget of 0 as for one that is marked as
// exhausted.
func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		campaign backend.Campaign
		want     bool
	}{
		{backend.Campaign{}, false},
		{backend.Campaign{CampaignSettings: backend.CampaignSettings{HasBudget: true, DailyBudget: 1}}, false},
		{backend.Campaign{CampaignSettings: backend.CampaignSettings{HasBudget: true}}, true},
		{backend.Campaign{BudgetExhausted: true}, true},
		{backend.Campaign{CampaignSettings: backend.CampaignSettings{HasBudget: true, DailyBudget: 1}, BudgetExhausted: true}, true},
		{backend.Campaign{CampaignSettings: backend.CampaignSettings{HasBudget: true}, BudgetExhausted: true}, true},
	} {
		r, err := New(balance.ByHash).Campaign(&c.campaign)
		if err != nil || r.BudgetExhausted != c.want {
			t.Errorf("%+v: %v, %v", c.campaign, r.GetBudgetExhausted(), err)
		}
	}
}

// TestAds: slaves get only ads and texts that can be shown. They get no ad without a headline, as old databases may
// have, and none whose headlines all have placeholders that are not filled.
func TestAds(t *testing.T) {
	it := item()
	it.Ads = []backend.Ad{
		{ID: 1, Enabled: true},
		{ID: 2, Enabled: true, Headlines: []string{"", " \u3000"}, Descriptions: []string{"Text"}, FinalURL: "https://shop.example/"},
		{ID: 3, Enabled: true, Headlines: []string{"In {LOCATION(City)}", "{KeyWord:}", "{KeyWORD:x}"}, Descriptions: []string{"Text"}},
		{ID: 4, Headlines: []string{"{=x}"}},
		{ID: 5, Enabled: true, Headlines: []string{"In {LOCATION(City)}", "{KeyWord:Cables}", "", "{50 %}"}, Descriptions: []string{"{IF(x):y}", "{keyword:}"},
			Path1: "{CUSTOMIZER.x}", Path2: "{KeyWord:p}", FinalURL: "https://shop.example/{lpurl}"},
		{ID: 6, Headlines: []string{"Paused"}, Path1: " ", Path2: "q"},
	}
	before := *it
	before.Ads = append([]backend.Ad(nil), it.Ads...)
	got, err := New(balance.ByOwner).Group(it)
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.Group{Ads: []*pb.Ad{
		{Id: 5, Enabled: true, Headlines: []string{"{KeyWord:Cables}", "{50 %}"}, Descriptions: []string{"{keyword:}"}, Path2: "{KeyWord:p}", FinalUrl: "https://shop.example/{lpurl}"},
		{Id: 6, Headlines: []string{"Paused"}, Path2: "q"},
	}}
	if have := (&pb.Group{Ads: got.Group.Ads}); !proto.Equal(have, want) {
		t.Errorf("got  %v\nwant %v", have, want)
	}
	if !reflect.DeepEqual(it.Ads, before.Ads) {
		t.Errorf("the entities were changed: %+v", it.Ads)
	}
}

// TestHeld: slaves get the reason for a hold whatever the status is.
func TestHeld(t *testing.T) {
	for hold, want := range map[backend.Hold]uint32{0: 0, backend.Refused: 1, backend.Ended: 2, backend.HeldBy(77): 4, backend.HeldBy(backend.MaxImport) | backend.Refused: 5} {
		b := New(balance.ByOwner)
		c, err := b.Campaign(&backend.Campaign{CampaignSettings: backend.CampaignSettings{Enabled: true, Hold: hold}})
		if err != nil || c.Held != want || c.Enabled != (hold == 0) {
			t.Errorf("campaign of %d: held %d, enabled %v, %v", hold, c.GetHeld(), c.GetEnabled(), err)
		}
		g, err := b.Group(&backend.Item{Group: backend.Group{GroupSettings: backend.GroupSettings{Enabled: true, Hold: hold}, ID: 1, AdvertiserID: 1}})
		if err != nil || g.Group.Held != want || g.Group.Enabled != (hold == 0) {
			t.Errorf("group of %d: held %d, enabled %v, %v", hold, g.GetGroup().GetHeld(), g.GetGroup().GetEnabled(), err)
		}
		if got, want := backend.Hold(want).Reasons(), hold.Reasons(); !reflect.DeepEqual(got, want) {
			t.Errorf("reasons of %d: %q, want %q", hold, got, want)
		}
	}
}

// TestTargeting: records have the targeting in place and time of campaigns, groups and advertisers, and nothing new for those
// that have none.
func TestTargeting(t *testing.T) {
	b := New(balance.ByOwner)
	campaign := backend.CampaignSettings{
		StartDate: "2026-03-31", EndDate: "2026-04-30", Schedule: `[{"day":"sunday","from":"08:15","to":"24:00","modifier_percent":-12.5}]`,
		Locations:         `[{"lat":50.087,"lon":-14.4,"radius_m":15000},{"id":2203,"modifier_percent":-10},{"id":2840,"exclude":true}]`,
		ExclusionPresence: true, Audiences: `{"target":[{"id":"a"}]}`, Sites: `{"exclude":[{"site":"a.example/x"}]}`, Categories: `["alcohol/wine"]`,
	}
	c, err := b.Campaign(&backend.Campaign{CampaignSettings: campaign})
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.Targeting{
		Start: 20260331, End: 20260430, Schedule: []*pb.DayInterval{{From: 33, To: 96, Modifier: 875}},
		Locations:         []*pb.Location{{Lat: 50_087_000, Lon: -14_400_000, Radius: 15_000}, {Place: 2203, Modifier: 900}, {Place: 2840, Exclude: true}},
		ExclusionPresence: true, Audiences: &pb.Audiences{Target: []*pb.Segment{{Id: "a"}}},
		Sites: &pb.Sites{Exclude: []*pb.Site{{Host: "a.example", Path: "/x"}}}, Categories: []string{"alcohol/wine"},
	}
	if !proto.Equal(c.Targeting, want) {
		t.Errorf("the campaign has\n%v, want\n%v", c.Targeting, want)
	}
	it := item()
	it.Group.Audiences, it.Group.Sites = `{"observe":[{"id":"b","modifier_percent":30}]}`, `{"include":[{"site":"b.example"}]}`
	g, err := b.Group(it)
	if err != nil {
		t.Fatal(err)
	}
	want = &pb.Targeting{Audiences: &pb.Audiences{Observe: []*pb.Segment{{Id: "b", Modifier: 1300}}}, Sites: &pb.Sites{Include: []*pb.Site{{Host: "b.example"}}}}
	if !proto.Equal(g.Group.Targeting, want) {
		t.Errorf("the group has %v, want %v", g.Group.Targeting, want)
	}
	for _, c := range []struct {
		backend.AdvertiserSettings
		want *pb.Advertiser
	}{
		{backend.AdvertiserSettings{TimeZone: "Europe/Prague", Categories: `["a","b/c"]`}, &pb.Advertiser{TimeZone: "Europe/Prague", Categories: []string{"a", "b/c"}}},
		{backend.NewAdvertiser(), &pb.Advertiser{Enabled: true}},
	} {
		if a, err := b.Advertiser(&backend.Advertiser{AdvertiserSettings: c.AdvertiserSettings}); err != nil || !proto.Equal(a, c.want) {
			t.Errorf("%+v has %v, %v", c.AdvertiserSettings, a, err)
		}
	}
	if c, err := b.Campaign(&backend.Campaign{}); err != nil || c.Targeting != nil {
		t.Errorf("a campaign without targeting has %v, %v", c, err)
	}
	if _, err := b.Campaign(&backend.Campaign{CampaignSettings: backend.CampaignSettings{Schedule: "[{}]"}}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a damaged schedule: %v", err)
	}
}

// TestLanguagesInUse: a keyword has a form in each of its campaign's languages in which words have stems, and one without a language if
// there is none.
func TestLanguagesInUse(t *testing.T) {
	for list, want := range map[string][]string{"cs,de,en": {"cs", "de"}, "en,de": {"de"}, "en": {""}, "": {"cs"}} {
		languages, err := words.ParseLanguages(list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewIn(balance.ByHash, languages).Item(item(), &backend.Campaign{CampaignSettings: backend.CampaignSettings{
			Languages: backend.LanguagesOf("cs", "de", "pl")}})
		if err != nil {
			t.Fatal(err)
		}
		var in []string
		for _, f := range got.Keywords[0].Forms {
			in = append(in, f.Language)
			if f.Terms[1] != words.TermOf(f.Language, "cables") {
				t.Errorf("%q: the term in %q is another one", list, f.Language)
			}
		}
		if !slices.Equal(in, want) {
			t.Errorf("%q: forms in %q, want %q", list, in, want)
		}
	}
}
