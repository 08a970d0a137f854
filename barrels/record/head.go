package record

import (
	"slices"

	"adshard/barrels/block"
	"adshard/schema/pb"
	"adshard/search"
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
	return h
}

// Modifiers returns a record's modifiers by device in permille, block.NotSet
// where not set.
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
