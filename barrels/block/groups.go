package block

import "adshard/search"

// Groups is the number of groups.
func (v *View) Groups() int { return int(v.groups) }

// GroupKey returns the ring key of the g-th group.
func (v *View) GroupKey(g int) uint64 { return v.number(2*int(v.words) + int(v.folds) + g) }

// GroupID returns the id of the g-th group.
func (v *View) GroupID(g int) uint64 { return v.get(colID, g) }

// GroupParents returns the ids of the g-th group's campaign and advertiser.
func (v *View) GroupParents(g int) (campaign, advertiser uint64) {
	return v.get(colCampaign, g), v.get(colAdvertiser, g)
}

// GroupFlags returns the flags of the g-th group.
func (v *View) GroupFlags(g int) uint16 { return uint16(v.get(colGroupFlags, g)) }

// GroupModifier returns the modifier of the g-th group on a device, or NotSet.
func (v *View) GroupModifier(g int, d search.Device) uint16 {
	if v.width[colModifiers] == 0 {
		return NotSet
	}
	return uint16(v.get(colModifiers, devices*g+int(d)))
}

// Group reads the g-th group.
func (v *View) Group(g int) Group {
	campaign, advertiser := v.GroupParents(g)
	return Group{
		Key: v.GroupKey(g), ID: v.GroupID(g), Campaign: campaign, Advertiser: advertiser,
		Modifiers: [devices]uint16{v.GroupModifier(g, 0), v.GroupModifier(g, 1), v.GroupModifier(g, 2)},
		Flags:     v.GroupFlags(g),
	}
}
