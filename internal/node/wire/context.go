package wire

import (
	"slices"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// fromContext returns the message of a request's context. It includes the request's own blocks; stored lists are sent as
// names and versions.
func fromContext(c *targeting.Context) *pb.Context {
	if c == nil {
		return nil
	}
	m := &pb.Context{Seconds: c.Time.Unix(), Languages: c.Languages, Audiences: c.Audiences, UnknownLocation: c.UnknownLocation}
	for _, p := range c.Places {
		m.Places = append(m.Places, &pb.ContextPlace{Id: p.ID, Presence: p.Presence, Interest: p.Interest, Depth: uint32(p.Depth)})
	}
	if c.Point != nil {
		m.Point = &pb.ContextPoint{Lat: c.Point.Lat, Lon: c.Point.Lon}
	}
	if c.Site != nil {
		m.Site = &pb.Site{Host: c.Site.Host, Path: c.Site.Path}
	}
	for _, b := range c.Blocks {
		if b.Name == "" {
			addBlocks(m, b)
		}
	}
	m.BlockLists = fromLists(c.Lists)
	return m
}

// addBlocks adds the blocks of the request, or of a placement. Programs that do not know the placement's field take all of them for
// the request's.
func addBlocks(m *pb.Context, b *targeting.Blocks) {
	m.BlockAdvertisers = both(m.BlockAdvertisers, b.Advertisers.List())
	m.BlockDomains = both(m.BlockDomains, b.Domains.List())
	m.BlockCategories = both(m.BlockCategories, b.Categories.List())
	m.BlockUncategorised = m.BlockUncategorised || b.Uncategorised
	if b.OfPlacement {
		m.Placement = new(pb.PageFilter)
		fillBlocks(m.Placement, b)
	}
}

// both returns the entries of two lists, and copies them only if each has some.
func both[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return slices.Concat(a, b)
}

// toContext reads the message of a context. Errors: fault.Invalid if it is out of bounds.
func toContext(m *pb.Context) (*targeting.Context, error) {
	if m == nil {
		return nil, nil
	}
	const op = "wire: context"
	if m.GetSeconds() < 0 || m.GetSeconds() >= targeting.EndOfTime {
		return nil, fault.Field(op, "time", "%d s since 1970; it must be from 1970 to 2100", m.GetSeconds())
	}
	if len(m.GetPlaces()) > maxPlaces {
		return nil, fault.Field(op, "places", "%d places; at most %d are allowed", len(m.GetPlaces()), maxPlaces)
	}
	c := &targeting.Context{
		Time: time.Unix(m.GetSeconds(), 0).UTC(), Languages: m.GetLanguages(), Audiences: m.GetAudiences(), UnknownLocation: m.GetUnknownLocation(),
	}
	for _, p := range m.GetPlaces() {
		c.Places = append(c.Places, targeting.Place{ID: p.GetId(), Presence: p.GetPresence(), Interest: p.GetInterest(), Depth: int(p.GetDepth())})
	}
	if p := m.GetPoint(); p != nil {
		c.Point = &targeting.Point{Lat: p.GetLat(), Lon: p.GetLon()}
	}
	if s := m.GetSite(); s != nil {
		c.Site = &targeting.Page{Host: s.GetHost(), Path: s.GetPath()}
	}
	of := toBlocks(m.GetPlacement())
	for _, b := range of {
		b.OfPlacement = true
	}
	c.Blocks, c.Lists = append(of, toBlocks(m)...), toLists(m.GetBlockLists())
	return c, nil
}

// fromOutcome returns the message of a context's outcome for a keyword.
func fromOutcome(o *targeting.Outcome) *pb.ContextOutcome {
	if o == nil {
		return nil
	}
	m := &pb.ContextOutcome{Verdict: uint32(o.Verdict), Criterion: fromCriterion(o.Criterion)}
	for i, f := range o.Factors.All() {
		m.Factors = append(m.Factors, &pb.ContextFactor{Modifier: uint32(f), By: fromCriterion(o.By[i])})
	}
	return m
}

func fromCriterion(c targeting.Criterion) *pb.ContextCriterion {
	if c == (targeting.Criterion{}) {
		return nil
	}
	return &pb.ContextCriterion{Text: c.Text, OfGroup: c.OfGroup, OfPlacement: c.OfPlacement, OfList: c.OfList}
}

// toOutcome reads a message made by fromOutcome.
func toOutcome(m *pb.ContextOutcome) *targeting.Outcome {
	if m == nil {
		return nil
	}
	o := &targeting.Outcome{Verdict: targeting.Verdict(min(m.GetVerdict(), uint32(targeting.Blocked))), Criterion: toCriterion(m.GetCriterion())}
	into := [...]*uint16{&o.Factors.Schedule, &o.Factors.Location, &o.Factors.Audience, &o.Factors.Site}
	for i, f := range m.GetFactors() {
		if i < len(into) {
			*into[i], o.By[i] = uint16(min(f.GetModifier(), targeting.MaxModifier)), toCriterion(f.GetBy())
		}
	}
	return o
}

func fromDevice(f *search.DeviceFactor) *pb.ContextFactor {
	if f == nil {
		return nil
	}
	return &pb.ContextFactor{Modifier: uint32(f.Permille), By: fromCriterion(targeting.Criterion{OfGroup: f.OfGroup})}
}

func toDevice(m *pb.ContextFactor) *search.DeviceFactor {
	if m == nil {
		return nil
	}
	return &search.DeviceFactor{Permille: uint64(m.GetModifier()), OfGroup: m.GetBy().GetOfGroup()}
}

func toCriterion(m *pb.ContextCriterion) targeting.Criterion {
	return targeting.Criterion{Text: m.GetText(), OfGroup: m.GetOfGroup(), OfPlacement: m.GetOfPlacement(), OfList: m.GetOfList()}
}
