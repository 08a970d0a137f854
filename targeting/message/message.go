// Package message converts targeting to and from the messages of records.proto in which slaves store it.
package message

import (
	"slices"
	"time"

	"adshard/schema/pb"
	"adshard/targeting"
)

// From returns the message for a campaign's targeting, or nil if there is none. Languages have their own field
// elsewhere.
func From(t *targeting.Targeting) *pb.Targeting {
	m := &pb.Targeting{
		Start: uint32(t.Start), End: uint32(t.End),
		TargetPresence: t.Targets == targeting.Presence, ExclusionPresence: t.Exclusion == targeting.Presence,
		Categories: t.Categories,
	}
	for _, i := range t.Schedule {
		m.Schedule = append(m.Schedule, &pb.DayInterval{Day: uint32(i.Day), From: uint32(i.From), To: uint32(i.To), Modifier: fromModifier(i.Modifier)})
	}
	for _, l := range t.Locations {
		m.Locations = append(m.Locations, &pb.Location{
			Place: l.Place, Lat: l.Circle.Lat, Lon: l.Circle.Lon, Radius: l.Circle.Radius, Exclude: l.Exclude, Modifier: fromModifier(l.Modifier),
		})
	}
	m.Audiences, m.Sites = fromAudiences(&t.Audiences), fromSites(&t.Sites)
	if m.Start == 0 && m.End == 0 && len(m.Schedule) == 0 && len(m.Locations) == 0 && !m.TargetPresence && !m.ExclusionPresence &&
		m.Audiences == nil && m.Sites == nil && len(m.Categories) == 0 {
		return nil
	}
	return m
}

// fromModifier encodes the default as 0, which takes no space.
func fromModifier(permille uint16) uint32 {
	if permille == targeting.Default {
		return 0
	}
	return uint32(permille)
}

func toModifier(m uint32) uint16 {
	if m == 0 {
		return targeting.Default
	}
	return uint16(min(m, targeting.MaxModifier))
}

func fromAudiences(a *targeting.Audiences) *pb.Audiences {
	if a.Empty() {
		return nil
	}
	return &pb.Audiences{Target: fromSegments(a.Target), Observe: fromSegments(a.Observe), Exclude: fromSegments(a.Exclude)}
}

func fromSegments(list []targeting.Segment) (out []*pb.Segment) {
	for _, s := range list {
		out = append(out, &pb.Segment{Id: s.ID, Modifier: fromModifier(s.Modifier)})
	}
	return out
}

func fromSites(s *targeting.Sites) *pb.Sites {
	if s.Empty() {
		return nil
	}
	return &pb.Sites{Include: fromSiteList(s.Include), Exclude: fromSiteList(s.Exclude)}
}

func fromSiteList(list []targeting.Site) (out []*pb.Site) {
	for _, s := range list {
		out = append(out, &pb.Site{Host: s.Host, Path: s.Path, Modifier: fromModifier(s.Modifier)})
	}
	return out
}

// To is the inverse of From. A nil message is no targeting.
func To(m *pb.Targeting) *targeting.Targeting {
	t := &targeting.Targeting{Start: targeting.Date(m.GetStart()), End: targeting.Date(m.GetEnd()), Categories: slices.Clone(m.GetCategories())}
	if m.GetTargetPresence() {
		t.Targets = targeting.Presence
	}
	if m.GetExclusionPresence() {
		t.Exclusion = targeting.Presence
	}
	for _, i := range m.GetSchedule() {
		t.Schedule = append(t.Schedule, targeting.Interval{
			Day: time.Weekday(i.GetDay()), From: uint8(i.GetFrom()), To: uint8(i.GetTo()), Modifier: toModifier(i.GetModifier()),
		})
	}
	for _, l := range m.GetLocations() {
		t.Locations = append(t.Locations, targeting.Location{
			Place: l.GetPlace(), Exclude: l.GetExclude(), Modifier: toModifier(l.GetModifier()),
			Circle: targeting.Circle{Point: targeting.Point{Lat: l.GetLat(), Lon: l.GetLon()}, Radius: l.GetRadius()},
		})
	}
	if a := m.GetAudiences(); a != nil {
		t.Audiences = targeting.Audiences{Target: toSegments(a.Target), Observe: toSegments(a.Observe), Exclude: toSegments(a.Exclude)}
	}
	if s := m.GetSites(); s != nil {
		t.Sites = targeting.Sites{Include: toSiteList(s.Include), Exclude: toSiteList(s.Exclude)}
	}
	return t
}

func toSegments(list []*pb.Segment) (out []targeting.Segment) {
	for _, s := range list {
		out = append(out, targeting.Segment{ID: s.GetId(), Modifier: toModifier(s.GetModifier())})
	}
	return out
}

func toSiteList(list []*pb.Site) (out []targeting.Site) {
	for _, s := range list {
		out = append(out, targeting.Site{Page: targeting.Page{Host: s.GetHost(), Path: s.GetPath()}, Modifier: toModifier(s.GetModifier())})
	}
	return out
}
