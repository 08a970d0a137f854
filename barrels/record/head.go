package record

import (
	"slices"

	"adshard/barrels/block"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
	"adshard/targeting/message"
)

// Head returns what postings say of a group.
func Head(g *pb.Group) block.Group {
	h := block.Group{
		Key: g.GetKey(), ID: g.GetId(), Campaign: g.GetCampaignId(), Advertiser: g.GetAdvertiserId(),
		Modifiers: Modifiers(g.GetModifiers()),
	}
	if g.GetEnabled() {
		h.Flags |= block.GroupEnabled
	}
	if slices.ContainsFunc(g.GetAds(), (*pb.Ad).GetEnabled) {
		h.Flags |= block.GroupHasAd
	}
	if slices.ContainsFunc(g.GetNegatives(), (*pb.Negative).GetEnabled) {
		h.Flags |= block.GroupNegatives
	}
	h.Flags |= factorFlags(Targeting(g.GetTargeting()))
	return h
}

// Targeting prepares a group's own targeting for searches. It returns nil if there is none.
func Targeting(m *pb.Targeting) *targeting.Group {
	if m == nil {
		return nil
	}
	t := message.To(m)
	return targeting.CompileGroup(&t.Audiences, &t.Sites)
}

func factorFlags(g *targeting.Group) uint16 {
	if g == nil {
		return 0
	}
	return block.FactorFlags(g.Most())
}

// Modifiers returns a record's modifiers by device in permille, or block.NotSet for those that are
// not set.
func Modifiers(m *pb.Modifiers) [search.Devices]uint16 {
	value := func(v *uint32) uint16 {
		if v == nil {
			return block.NotSet
		}
		return uint16(*v)
	}
	if m == nil {
		m = new(pb.Modifiers)
	}
	return [search.Devices]uint16{value(m.Desktop), value(m.Mobile), value(m.Tablet)}
}
