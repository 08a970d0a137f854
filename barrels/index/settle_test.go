package index

import (
	"fmt"
	"testing"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/schema/pb"
)

// manyAdvertisers returns parents with n advertisers of one targeted campaign each.
func manyAdvertisers(n uint64) *Parents {
	p := NewParents()
	for id := range n {
		_ = p.SetAdvertiser(&pb.Advertiser{Id: id + 1}) // the zone is the default and so is valid
		p.SetCampaign(&pb.Campaign{Id: id + 1, AdvertiserId: id + 1})
	}
	p.Settle()
	return p
}

// TestSettle: however many advertisers get other categories, each campaign has those of its
// advertiser after Settle, even if it came before its advertiser. The parents that searches use
// meanwhile do not change.
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

// TestRenumberedProfilesAreForgotten: once profiles are renumbered, impacts of earlier versions
// are no longer valid, whatever their block; impacts of this version and later ones are.
func TestRenumberedProfilesAreForgotten(t *testing.T) {
	var e block.Encoder
	e.Add(&block.Entry{Group: &block.Group{Key: 1, Campaign: 7, Advertiser: 7}, Keyword: 1, Words: []block.Word{{Norm: 1, Fold: 1, Term: 1}}})
	v := &NewBlock(1, kv.Place{}, e.Append(nil)).View
	p := manyAdvertisers(10)
	for n := range 2000 { // each leaves a profile that no campaign has any longer
		p.SetCampaign(&pb.Campaign{Id: 1, AdvertiserId: 1, Languages: []string{fmt.Sprint("l", n)}})
	}
	p = p.Copy()
	p.SetCampaign(&pb.Campaign{Id: 2, AdvertiserId: 2}) // the newest remembered change
	p = p.Copy()
	before := p.Version
	if p = p.Copy(); p.ChangedIn(before, v) {
		t.Error("it has changed already")
	}
	if !p.Tighten() || !p.ChangedIn(before, v) || !p.ChangedIn(0, v) || p.ChangedIn(p.Version, v) {
		t.Errorf("renumbered in version %d: changed since %d: %v, since 0: %v, since then: %v", p.Version, before, p.ChangedIn(before, v), p.ChangedIn(0, v),
			p.ChangedIn(p.Version, v))
	}
	next := p.Copy()
	if next.SetCampaign(&pb.Campaign{Id: 3, AdvertiserId: 3}); next.ChangedIn(p.Version, v) {
		t.Error("a change of another campaign is one of the block's")
	}
}
