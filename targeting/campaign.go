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

// Campaign is a campaign's targeting made ready for requests.
type Campaign struct {
	id, advertiser      uint64
	start, end          Date
	zone                *time.Location
	schedule            Schedule
	languages           []string
	locations           placeSet
	audiences           *segments
	sites               *Sites
	categories, ofOwner Categories
	plain               bool
}

// Group is a group's own targeting made ready for requests.
type Group struct {
	audiences *segments // nil: the campaign's
	sites     *Sites    // nil: the campaign's
}

// placeSet has a campaign's targets and exclusions by place; circles by rising radius, of equal ones the higher modifier
// first.
type placeSet struct {
	places, noPlaces   map[uint32]uint16
	circles, noCircles []Location
	targets, exclusion Method
}

// segments has modifiers by segment, and what is excluded.
type segments struct {
	applies  map[string]uint16 // target and observe: permille
	required map[string]struct{}
	excluded map[string]struct{}
}

// Compile makes a campaign's targeting ready, given its advertiser's id, zone and categories.
func Compile(id, advertiser uint64, t *Targeting, zone *time.Location, ofOwner Categories) *Campaign {
	c := &Campaign{
		id: id, advertiser: advertiser, start: t.Start, end: t.End, zone: zone, schedule: t.Schedule, languages: t.Languages,
		locations: compileLocations(t), categories: t.Categories, ofOwner: ofOwner,
	}
	if !t.Audiences.Empty() {
		c.audiences = compileAudiences(&t.Audiences)
	}
	if !t.Sites.Empty() {
		c.sites = &t.Sites
	}
	c.plain = t.Start == 0 && t.End == 0 && len(t.Schedule) == 0 && len(t.Locations) == 0 && c.audiences == nil && c.sites == nil
	return c
}

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
