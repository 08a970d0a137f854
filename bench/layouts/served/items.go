package served

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/bench/layouts"
	"adshard/schema/pb"
)

// items makes a set's groups as slaves store them. It must not be used
// concurrently.
type items struct {
	set  *layouts.Set
	like []uint32 // the keyword whose words each keyword has; nil: its own
	// mixed: keywords have different match types, and some groups have one of the
	// words of common as a negative.
	mixed   bool
	common  []uint32
	builder *nodedata.Builder
	text    []byte
}

func newItems(set *layouts.Set) *items { return &items{set: set} }

// rest frees the memory that making items has used.
func (m *items) rest() { m.builder, m.text = nil, nil }

// item returns group g as slaves store it.
func (m *items) item(g int) (*pb.Item, error) {
	if m.builder == nil {
		m.builder = nodedata.New(balance.ByOwner)
	}
	return m.builder.Item(m.entity(g), &backend.Campaign{})
}

// entity returns group g as it is in the database.
func (m *items) entity(g int) *backend.Item {
	of := &m.set.Groups[g]
	it := &backend.Item{
		Group: backend.Group{
			ID: of.ID, CampaignID: of.Campaign, AdvertiserID: of.Advertiser,
			Name: fmt.Sprintf("group %d", of.ID), GroupSettings: backend.GroupSettings{Enabled: true},
		},
		Ads: []backend.Ad{{
			ID: of.ID, GroupID: of.ID, Enabled: true,
			Headlines: []string{fmt.Sprintf("Ad of group %d", of.ID)}, FinalURL: "https://shop.example/",
		}},
	}
	if m.mixed {
		it.Negatives = m.negatives(g)
	}
	for i := int(of.First); i < m.set.GroupEnd(g); i++ {
		m.text = m.set.Text(m.text[:0], m.likeOf(i))
		text := string(m.text)
		it.Keywords = append(it.Keywords, backend.Keyword{
			ID: m.set.ID(i), GroupID: of.ID, Text: text, Words: text, Type: m.typeOf(i), KeywordSettings: backend.KeywordSettings{Enabled: true, Bid: uint64(m.set.Bids[i]), HasBid: true, Quality: m.set.Qualities[i]},
		})
	}
	return it
}

func (m *items) likeOf(i int) int {
	if m.like == nil {
		return i
	}
	return int(m.like[i])
}

// change records a keyword's new words.
func (m *items) change(c layouts.Change) {
	if m.like == nil {
		m.like = make([]uint32, m.set.Len())
		for i := range m.like {
			m.like[i] = uint32(i)
		}
	}
	m.like[c.Keyword] = uint32(c.Like)
}

// parents returns all advertisers and campaigns.
func (m *items) parents() ([]*pb.Advertiser, []*pb.Campaign) {
	var advertisers []*pb.Advertiser
	var campaigns []*pb.Campaign
	seen, known := make(map[uint64]bool), make(map[uint64]bool)
	for i := range m.set.Groups {
		g := &m.set.Groups[i]
		if !seen[g.Advertiser] {
			seen[g.Advertiser] = true
			advertisers = append(advertisers, &pb.Advertiser{Id: g.Advertiser, Name: fmt.Sprintf("advertiser %d", g.Advertiser), Enabled: true})
		}
		if !known[g.Campaign] {
			known[g.Campaign] = true
			campaigns = append(campaigns, &pb.Campaign{
				Id: g.Campaign, AdvertiserId: g.Advertiser, Name: fmt.Sprintf("campaign %d", g.Campaign), Enabled: true,
			})
		}
	}
	return advertisers, campaigns
}

// groupOf returns the group of keyword i.
func (m *items) groupOf(i int) int {
	at, found := slices.BinarySearchFunc(m.set.Groups, uint32(i), func(g layouts.Group, i uint32) int {
		return cmp.Compare(g.First, i)
	})
	if found {
		return at
	}
	return at - 1
}
