package searchapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/places"
	"adshard/search/words"
	"adshard/targeting"
)

// contextParams are the parts of a request that describe its user and page (serving.md §11), named as in query strings.
type contextParams struct {
	location, interest, point, time, language, audience, site, block, advertiser, domain, category api.Values
	uncategorised                                                                                  bool
}

func searchContext(p *api.SearchParams) *contextParams {
	return &contextParams{
		p.Location, p.InterestLocation, p.Point, p.Time, p.Language, p.Audience, p.Site, p.Block, p.BlockAdvertiser, p.BlockDomain,
		p.BlockCategory, p.BlockUncategorised,
	}
}

func explainContext(p *api.ExplainParams) *contextParams {
	return &contextParams{
		p.Location, p.InterestLocation, p.Point, p.Time, p.Language, p.Audience, p.Site, p.Block, p.BlockAdvertiser, p.BlockDomain,
		p.BlockCategory, p.BlockUncategorised,
	}
}

// resolver resolves the context of a request, and keeps the first fault.
type resolver struct {
	*call
	out *targeting.Context
	err error
}

// resolved is a context, with what the answer says about it.
type resolved struct {
	*targeting.Context
	unknown []uint32 // places that the table does not have
	version string   // version of the table, or "" if the request names no places
}

// resolve checks and resolves the context of a request. Errors: fault.Invalid with the field.
func (c *call) resolve(p *contextParams) (resolved, error) {
	r := resolver{call: c, out: &targeting.Context{Time: c.start.UTC().Truncate(time.Second), UnknownLocation: c.IncludeUnknownLocations}}
	at := resolved{Context: r.out}
	if presence, interest := r.places("location", p.location), r.places("interest_location", p.interest); len(presence)+len(interest) > 0 {
		t, err := c.places()
		if err != nil {
			return at, err
		}
		r.out.Places, at.unknown = t.Resolve(presence, interest)
		at.version = t.Version()
	}
	r.point(p.point)
	r.time(p.time)
	r.out.Languages = texts(&r, "language", p.language, targeting.MaxLanguages, parseLanguage)
	r.out.Audiences = texts(&r, "audience", p.audience, targeting.MaxAudiences, func(s string) (string, error) { return s, targeting.CheckSegment(s) })
	r.site(p.site)
	r.blocks(p)
	return at, r.err
}

// places returns the table of places. Errors: fault.Unavailable if it has not arrived yet: in another table, places would lack their
// parents, and excluded ads would be shown.
func (c *call) places() (*places.Table, error) {
	if c.Places == nil {
		return places.Countries(), nil
	}
	if t := c.Places(); t != nil {
		return t, nil
	}
	return nil, fault.Newf(fault.Unavailable, op, "the table of places has not come from the balancer yet: ask again soon")
}

// fail records a fault of a parameter, under the name that the parameter has in the request's form.
func (r *resolver) fail(param, format string, args ...any) {
	if r.err != nil {
		return
	}
	if r.body {
		param = new(api.SearchParams).BodyName(param)
	}
	r.err = fault.Field(op, param, "%s: %s", param, fmt.Sprintf(format, args...))
}

// texts reads a list of strings with `parse`, and drops duplicates.
func texts(r *resolver, param string, list api.Values, most int, parse func(string) (string, error)) []string {
	var out []string
	for _, v := range list {
		s, err := v.String()
		if err == nil {
			s, err = parse(s)
		}
		if err != nil {
			r.fail(param, "%v", err)
			return nil
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return distinct(r, param, out, most)
}

// distinct drops the duplicates of a sorted list, and records a fault if more than `most` values remain.
func distinct[T comparable](r *resolver, param string, list []T, most int) []T {
	if list = slices.Compact(list); len(list) > most {
		r.fail(param, "%d distinct values; at most %d are taken", len(list), most)
		return nil
	}
	return list
}

// places reads ids of places.
func (r *resolver) places(param string, list api.Values) []uint32 {
	var out []uint32
	for _, v := range list {
		id, err := targeting.ParsePlaceID(v.Raw)
		if err != nil || v.Kind != api.Untyped && v.Kind != api.Number {
			r.fail(param, "a place's id is a number from 1 to 4294967295")
			return nil
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return distinct(r, param, out, targeting.MaxPlaces)
}

func parseLanguage(s string) (string, error) {
	code, ok := words.ParseLanguage(s)
	if !ok {
		return "", fmt.Errorf("unknown language %.40q: a name or code such as Czech or cs", s)
	}
	return code, nil
}

// point reads a point, written as lat,lon in a query string or as an object in a body.
func (r *resolver) point(list api.Values) {
	v, ok := list.One()
	if !ok {
		return
	}
	var lat, lon string
	switch v.Kind {
	case api.Untyped:
		lat, lon, ok = strings.Cut(v.Raw, ",")
	case api.Object:
		lat, lon, ok = pointOf(v.Raw)
	default:
		ok = false
	}
	p, err := targeting.ParsePoint(lat, lon)
	if !ok || err != nil {
		r.fail("point", "lat (−90 to 90) and lon (−180 to 180) in degrees with at most 6 decimals are needed")
		return
	}
	r.out.Point = &p
}

// pointOf reads the numbers of {"lat":…,"lon":…}.
func pointOf(raw string) (lat, lon string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil || len(fields) != 2 {
		return "", "", false
	}
	return string(fields["lat"]), string(fields["lon"]), true
}

func (r *resolver) time(list api.Values) {
	v, ok := list.One()
	if !ok {
		return
	}
	s, err := v.String()
	t, err2 := time.Parse(time.RFC3339, s)
	if err != nil || err2 != nil || !strictTime(s) || t.Unix() < 0 || t.Unix() >= targeting.EndOfTime {
		r.fail("time", "a time as in RFC 3339 is needed, such as 2026-03-31T08:00:00+02:00, from 1970 to 2100")
		return
	}
	r.out.Time = t.UTC()
}

// strictTime reports whether a time is not one of the forms that time.Parse accepts in addition to RFC 3339: an hour of one digit, or a
// comma before the fraction.
func strictTime(s string) bool {
	return len(s) > 13 && s[13] == ':' && !strings.Contains(s, ",")
}

func (r *resolver) site(list api.Values) {
	v, ok := list.One()
	if !ok {
		return
	}
	s, err := v.String()
	if err != nil || len(s) > targeting.MaxPageBytes {
		r.fail("site", "a host, optionally with a path, of at most %d bytes is needed", targeting.MaxPageBytes)
		return
	}
	page, err := targeting.ParsePage(s)
	if err != nil {
		r.fail("site", "%v", err)
		return
	}
	r.out.Site = &page
}

// blocks reads the blocks that the request itself lists, and the names of stored lists.
func (r *resolver) blocks(p *contextParams) {
	names := texts(r, "block", p.block, targeting.MaxLists, func(s string) (string, error) {
		if s == "" || len(s) > targeting.MaxListName {
			return "", fmt.Errorf("a list's name has 1 to %d bytes", targeting.MaxListName)
		}
		return s, nil
	})
	advertisers := r.advertisers(p.advertiser)
	domains := texts(r, "block_domain", p.domain, targeting.MaxBlocks, targeting.Host)
	categories := texts(r, "block_category", p.category, targeting.MaxBlocks, func(s string) (string, error) { return s, targeting.CheckCategory(s) })
	if b := targeting.NewBlocks(advertisers, domains, categories, p.uncategorised); b != nil {
		r.out.Blocks = []*targeting.Blocks{b}
	}
	for _, name := range names {
		r.list(name)
	}
}

// list adds a stored list in its present version.
func (r *resolver) list(name string) {
	if r.List == nil {
		r.fail("block", "there is no block list %.64q", name)
		return
	}
	version, err := r.List(name)
	switch {
	case fault.Is(err, fault.Invalid):
		r.fail("block", "there is no block list %.64q", name)
	case err != nil && r.err == nil:
		r.err = err
	default:
		r.out.Lists = append(r.out.Lists, targeting.ListVersion{Name: name, Version: version})
	}
}

func (r *resolver) advertisers(list api.Values) []uint64 {
	var out []uint64
	for _, v := range list {
		id, err := strconv.ParseUint(v.Raw, 10, 63)
		if err != nil || id == 0 || v.Raw[0] == '+' || v.Kind != api.Untyped && v.Kind != api.Number {
			r.fail("block_advertiser", "an advertiser's id is a number from 1 on")
			return nil
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return distinct(r, "block_advertiser", out, targeting.MaxBlocks)
}
