package block

import (
	"adshard/schema/fb"
	"adshard/search"
)

func (v *View) findGroups(root *fb.Block) {
	if n := root.WideGroupsLength(); n > 0 {
		var first fb.WideGroup
		root.WideGroups(&first, 0)
		v.groups = v.found(first.Table().Pos, n, wideGroupSize, Max)
	} else {
		var first fb.Group
		root.Groups(&first, 0)
		v.groups = v.found(first.Table().Pos, root.GroupsLength(), groupSize, Max)
	}
	var first fb.Modifiers
	if root.Modifiers(&first, 0) { // also if the vector is there and empty
		n := root.ModifiersLength()
		if v.found(first.Table().Pos, n, modifiersSize, Max); n != v.Groups() {
			panic(errBroken)
		}
	}
}

// group returns the g-th group. If it is a WideGroup, only its key is valid.
func (v *View) group(g int) (r fb.Group) {
	r.Init(v.b, v.groups.place(g))
	return r
}

// wideGroup returns the g-th group of a block with wide groups.
func (v *View) wideGroup(g int) (r fb.WideGroup) {
	r.Init(v.b, v.groups.place(g))
	return r
}

// Groups returns the number of groups.
func (v *View) Groups() int { return int(v.groups.n) }

// GroupKey returns the ring key of the g-th group.
func (v *View) GroupKey(g int) uint64 {
	r := v.group(g)
	return r.Key()
}

// GroupID returns the id of the g-th group.
func (v *View) GroupID(g int) uint64 {
	if v.groups.size == wideGroupSize {
		r := v.wideGroup(g)
		return r.Id()
	}
	r := v.group(g)
	return uint64(r.Id())
}

// GroupParents returns the ids of the g-th group's campaign and advertiser.
func (v *View) GroupParents(g int) (campaign, advertiser uint64) {
	if v.groups.size == wideGroupSize {
		r := v.wideGroup(g)
		return r.Campaign(), r.Advertiser()
	}
	r := v.group(g)
	return uint64(r.Campaign()), uint64(r.Advertiser())
}

// GroupFlags returns the flags of the g-th group.
func (v *View) GroupFlags(g int) uint16 {
	if v.groups.size == wideGroupSize {
		r := v.wideGroup(g)
		return flagsOf(r.Flags(), r.Factor())
	}
	r := v.group(g)
	return flagsOf(r.Flags(), r.Factor())
}

func flagsOf(flags, factor uint8) uint16 { return uint16(flags) | uint16(factor)<<groupFactorShift }

// GroupModifier returns the modifier of the g-th group on a device, or NotSet.
func (v *View) GroupModifier(g int, d search.Device) uint16 {
	root := v.table()
	var m fb.Modifiers
	switch {
	case !root.Modifiers(&m, g):
		return NotSet
	case d == search.Desktop:
		return m.Desktop()
	case d == search.Mobile:
		return m.Mobile()
	}
	return m.Tablet()
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
