package barreltest

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/oracle/oracletest"
	"adshard/schema/pb"
	"adshard/search"
)

// Small returns a world with n advertisers. Each has one English campaign, one group, one ad and
// the given broad keywords, with bids that rise with the advertiser's id.
func Small(n int, keywords ...string) *oracletest.World {
	w := &oracletest.World{Clock: 1}
	for i := range uint64(n) {
		id := i + 1
		w.Advertisers = append(w.Advertisers, &backend.Advertiser{ID: id, Name: fmt.Sprint("advertiser ", id), AdvertiserSettings: backend.AdvertiserSettings{Enabled: true}, Version: 1})
		w.Campaigns = append(w.Campaigns, &backend.Campaign{
			ID: id, AdvertiserID: id, Name: fmt.Sprint("campaign ", id), CampaignSettings: backend.CampaignSettings{Enabled: true, Languages: backend.LanguagesOf("en")}, Version: 1,
		})
		it := &backend.Item{
			Group: backend.Group{ID: id, CampaignID: id, AdvertiserID: id, Name: fmt.Sprint("group ", id), GroupSettings: backend.GroupSettings{Enabled: true}, Version: 1},
			Ads:   []backend.Ad{{ID: id, GroupID: id, Enabled: true, Headlines: []string{"h"}, FinalURL: "https://example.com"}},
		}
		for j, text := range keywords {
			it.Keywords = append(it.Keywords, backend.Keyword{
				ID: i*uint64(len(keywords)) + uint64(j) + 1, GroupID: id, Text: text, Type: search.Broad,
				KeywordSettings: backend.KeywordSettings{Enabled: true, Bid: id * 1_000_000, HasBid: true, Quality: 5},
			})
		}
		w.Items = append(w.Items, it)
	}
	return w
}

// query returns a request for a text with default settings and exact counts.
func query(t TB, text string) *search.Request {
	t.Helper()
	q, err := search.Expand(text, search.Synonym, nil)
	if err != nil {
		t.Fatalf("expand %q: %v", text, err)
	}
	return &search.Request{
		Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000, ExactCounts: true, RequestID: "r",
	}
}

func ask(t TB, s barrels.Store, r *search.Request) *search.Answer {
	t.Helper()
	a, err := s.Search(context.Background(), r)
	if err != nil {
		t.Fatalf("search %q: %v", r.Query.Text, err)
	}
	return a
}

func put(t TB, s barrels.Store, d *pb.NodeData) {
	t.Helper()
	if err := s.Apply(context.Background(), d); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

func refuse(t TB, s barrels.Store, d *pb.NodeData, kind fault.Kind) {
	t.Helper()
	if err := s.Apply(context.Background(), d); !fault.Is(err, kind) {
		t.Fatalf("apply gave %v, want %v", err, kind)
	}
}

// matches fails unless a query matches the wanted number of keywords and all blocks were read.
func matches(t TB, s barrels.Store, text string, want uint64) {
	t.Helper()
	a := ask(t, s, query(t, text))
	if a.Matched != want || a.Work.BlocksBad != 0 {
		t.Fatalf("%q matches %d, want %d; %+v", text, a.Matched, want, a.Work)
	}
}
