package targeting

import "time"

// Targeting is what a campaign, group or advertiser says of where and when its keywords take part. A group has audiences and
// sites only, an advertiser categories and a zone.
type Targeting struct {
	Start, End         Date
	Schedule           Schedule
	Locations          Locations
	Targets, Exclusion Method
	Languages          []string // codes
	Audiences          Audiences
	Sites              Sites
	Categories         Categories
}

// Owner is what targeting knows of a campaign's advertiser.
type Owner struct {
	ID         uint64
	Zone       *time.Location // of dates and schedules
	Categories Categories     // they add to the campaigns' own
}

// Campaign is a campaign's targeting made ready for requests.
type Campaign struct {
	start, end Date
	schedule   Schedule
	languages  []string
	locations  placeSet
	audiences  *segments
	sites      *Sites
	categories Categories
	plain      bool
}

// Group is a group's own targeting made ready for requests.
type Group struct {
	audiences *segments // nil: the campaign's
	sites     *Sites    // nil: the campaign's
}

// placeSet has a campaign's targets and exclusions by place; circles by rising radius, of equal ones the higher modifier
// first.
type placeSet struct {
	places, noPlaces   placeList
	circles, noCircles []Location
	targets, exclusion Method
}

// placeList has modifiers by place, in order.
type placeList []placeModifier

type placeModifier struct {
	id       uint32
	modifier uint16
}

// find returns the modifier of a place, if it is there.
func (l placeList) find(id uint32) (modifier uint16, ok bool) {
	for len(l) > 8 {
		if half := len(l) / 2; l[half].id > id {
			l = l[:half]
		} else {
			l = l[half:]
		}
	}
	for i := range l {
		if l[i].id == id {
			return l[i].modifier, true
		}
	}
	return 0, false
}

// Compile makes a campaign's targeting ready; nil: it says nothing at all.
func Compile(t *Targeting) *Campaign {
	c := &Campaign{
		start: t.Start, end: t.End, schedule: t.Schedule, languages: t.Languages, locations: compileLocations(t), categories: t.Categories,
	}
	if !t.Audiences.Empty() {
		c.audiences = compileAudiences(&t.Audiences)
	}
	if !t.Sites.Empty() {
		c.sites = &t.Sites
	}
	c.plain = t.Start == 0 && t.End == 0 && len(t.Schedule) == 0 && len(t.Locations) == 0 && c.audiences == nil && c.sites == nil
	if c.plain && len(t.Languages) == 0 && len(t.Categories) == 0 {
		return nil
	}
	return c
}

// Plain reports whether the campaign passes each request that names no language and blocks nothing, and changes no bid.
func (c *Campaign) Plain() bool { return c == nil || c.plain }

// CompileGroup makes a group's own targeting ready; nil: it has none.
func CompileGroup(a *Audiences, s *Sites) *Group {
	if a.Empty() && s.Empty() {
		return nil
	}
	g := new(Group)
	if !a.Empty() {
		g.audiences = compileAudiences(a)
	}
	if !s.Empty() {
		g.sites = s
	}
	return g
}
