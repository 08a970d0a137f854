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
			put(&l.noPlaces, one.Place, Default)
		case one.Place != 0:
			put(&l.places, one.Place, one.Modifier)
		case one.Exclude:
			l.noCircles = append(l.noCircles, one)
		default:
			l.circles = append(l.circles, one)
		}
	}
	slices.SortFunc(l.circles, func(a, b Location) int {
		return cmp.Or(cmp.Compare(a.Circle.Radius, b.Circle.Radius), cmp.Compare(b.Modifier, a.Modifier))
	})
	return l
}

func compileAudiences(a *Audiences) *segments {
	out := new(segments)
	for _, s := range a.Target {
		put(&out.applies, s.ID, s.Modifier)
		put(&out.required, s.ID, struct{}{})
	}
	for _, s := range a.Observe {
		put(&out.applies, s.ID, max(s.Modifier, out.applies[s.ID]))
	}
	for _, s := range a.Exclude {
		put(&out.excluded, s.ID, struct{}{})
	}
	return out
}

// put adds to a map that is made when it is needed.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// Most is an upper bound, in permille, of what the campaign's own factors multiply.
func (c *Campaign) Most() uint64 {
	f := neutral
	for _, i := range c.schedule {
		f.Schedule = max(f.Schedule, i.Modifier)
	}
	for _, m := range c.locations.places {
		f.Location = max(f.Location, m)
	}
	for _, l := range c.locations.circles {
		f.Location = max(f.Location, l.Modifier)
	}
	f.Audience, f.Site = mostAudience(c.audiences), mostSite(c.sites)
	return f.product()
}

// Most is an upper bound, in permille, of what the group's own factors multiply.
func (g *Group) Most() uint64 {
	f := neutral
	f.Audience, f.Site = mostAudience(g.audiences), mostSite(g.sites)
	return f.product()
}

// product is the factors' product in permille, rounded up.
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
		for _, m := range a.applies {
			most = max(most, m)
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
