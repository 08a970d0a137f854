package index

import (
	"fmt"
	"testing"

	"adshard/schema/pb"
)

// manyAdvertisers are parents of advertisers of one targeted campaign each.
func manyAdvertisers(n uint64) *Parents {
	p := NewParents()
	for id := range n {
		_ = p.SetAdvertiser(&pb.Advertiser{Id: id + 1}) // the zone is the default
		p.SetCampaign(&pb.Campaign{Id: id + 1, AdvertiserId: id + 1})
	}
	p.Settle()
	return p
}

// TestSettle: however many advertisers have other categories, each campaign has its own advertiser's after Settle, also one that came before
// its advertiser; the parents that searches use meanwhile stay as they are.
func TestSettle(t *testing.T) {
	p := manyAdvertisers(100)
	p.SetCampaign(&pb.Campaign{Id: 500, AdvertiserId: 500})
	next := p.Copy()
	for id := uint64(1); id <= 100; id += 2 {
		_ = next.SetAdvertiser(&pb.Advertiser{Id: id, Categories: []string{fmt.Sprint("c", id)}})
	}
	_ = next.SetAdvertiser(&pb.Advertiser{Id: 500, Categories: []string{"late"}})
	next.Settle()
	for id := uint64(1); id <= 500; id++ {
		c, ok := next.Campaigns.Get(id)
		if !ok {
			continue
		}
		want := ""
		switch {
		case id == 500:
			want = "[late]"
		case id%2 == 1:
			want = fmt.Sprintf("[c%d]", id)
		default:
			want = "[]"
		}
		if got := fmt.Sprint(next.Profiles.Of(c.Profile).Owner.Categories); got != want {
			t.Errorf("campaign %d has the categories %s, not %s", id, got, want)
		}
		was, _ := p.Campaigns.Get(id)
		if got := fmt.Sprint(p.Profiles.Of(was.Profile).Owner.Categories); got != "[]" {
			t.Errorf("campaign %d had the categories %s before", id, got)
		}
	}
}

// BenchmarkAdvertisersChange changes the categories of 10,000 of 100,000 advertisers in one batch.
func BenchmarkAdvertisersChange(b *testing.B) {
	p := manyAdvertisers(100_000)
	for round := 0; b.Loop(); round++ {
		p = p.Copy()
		for id := range uint64(10_000) {
			_ = p.SetAdvertiser(&pb.Advertiser{Id: id*7 + 1, Categories: []string{fmt.Sprint("c", round%2)}})
		}
		p.Settle()
	}
}
