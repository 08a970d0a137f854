package targeting

import "time"

// Targeting is what a campaign, group or advertiser sets about where and when its keywords take part. A group sets only
// audiences and sites, an advertiser only categories and a zone.
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

// Owner is what targeting needs to know of a campaign's advertiser.
type Owner struct {
	ID         uint64
	Zone       *time.Location // of dates and schedules
	Categories Categories     // added to those of its campaigns
}

// Campaign is a campaign's targeting, prepared for requests.
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

// Group is a group's own targeting, prepared for requests.
type Group struct {
	audiences *segments // nil if the campaign's apply
	sites     *Sites    // nil if the campaign's apply
}

// placeSet has a campaign's targets and exclusions. Places are sorted by id. Circles are sorted by ascending radius, those
// of equal radius by descending modifier.
type placeSet struct {
	places, noPlaces   placeList
	circles, noCircles []Location
	targets, exclusion Method
}

// placeList has modifiers by place, sorted by the place's id.
type placeList []placeModifier

type placeModifier struct {
	id       uint32
	modifier uint16
}

// find returns the modifier of a place. ok is false if the list does not have the place.
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

// Compile prepares a campaign's targeting. It returns nil if nothing is set.
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

// Plain reports whether the campaign passes every request that names no language and blocks nothing, and its bids stay as
// they are.
func (c *Campaign) Plain() bool { return c == nil || c.plain }

// CompileGroup prepares a group's own targeting. It returns nil if there is none.
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
