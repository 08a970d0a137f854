package targeting

import (
	"cmp"
	"slices"
)

func compileLocations(t *Targeting) placeSet {
	l := placeSet{targets: t.Targets, exclusion: t.Exclusion}
	for _, one := range t.Locations {
		switch {
		case one.Place != 0 && one.Exclude:
			l.noPlaces = append(l.noPlaces, placeModifier{one.Place, Default})
		case one.Place != 0:
			l.places = append(l.places, placeModifier{one.Place, one.Modifier})
		case one.Exclude:
			l.noCircles = append(l.noCircles, one)
		default:
			l.circles = append(l.circles, one)
		}
	}
	for _, list := range [...]placeList{l.places, l.noPlaces} {
		slices.SortFunc(list, func(a, b placeModifier) int { return cmp.Compare(a.id, b.id) })
	}
	slices.SortFunc(l.circles, func(a, b Location) int {
		return cmp.Or(cmp.Compare(a.Circle.Radius, b.Circle.Radius), cmp.Compare(b.Modifier, a.Modifier))
	})
	return l
}

// Most returns an upper bound, in permille, of the product of the campaign's own factors. For a nil
// campaign it is Default.
func (c *Campaign) Most() uint64 {
	f := neutral
	if c.Plain() {
		return Default
	}
	for _, i := range c.schedule {
		f.Schedule = max(f.Schedule, i.Modifier)
	}
	for _, p := range c.locations.places {
		f.Location = max(f.Location, p.modifier)
	}
	for _, l := range c.locations.circles {
		f.Location = max(f.Location, l.Modifier)
	}
	f.Audience, f.Site = mostAudience(c.audiences), mostSite(c.sites)
	return f.product()
}

// Most returns an upper bound, in permille, of the product of the group's own factors.
func (g *Group) Most() uint64 {
	f := neutral
	f.Audience, f.Site = mostAudience(g.audiences), mostSite(g.sites)
	return f.product()
}

// product returns the product of the factors in permille, rounded up.
func (f *Factors) product() uint64 {
	p := uint64(f.Schedule)
	for _, by := range [...]uint16{f.Location, f.Audience, f.Site} {
		p = (p*uint64(by) + 999) / 1000
	}
	return p
}

func mostAudience(a *segments) uint16 {
	most := uint16(Default)
	if a != nil {
		for i := range a.list {
			most = max(most, a.list[i].modifier)
		}
	}
	return most
}

func mostSite(s *Sites) uint16 {
	most := uint16(Default)
	if s != nil {
		for _, one := range s.Include {
			most = max(most, one.Modifier)
		}
	}
	return most
}
