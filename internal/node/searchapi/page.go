package searchapi

import (
	"encoding/json"
	"reflect"
	"slices"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/targeting"
)

// page holds the placements of a request (serving.md §15).
type page struct {
	filters       []search.Filter
	perAdvertiser int
	placements    []placement // in the order of the request
}

// placement is a placement of a page.
type placement struct {
	id     string                   // "" if it could not be read
	slots  int                      // 0 if they could not be read
	err    error                    // why it is not filled, or nil
	filter int                      // index of its filter
	won    []auction.Placement      // indexes into the hits found
	why    *[search.Verdicts]uint64 // verdicts of a placement without ads; nil if they were not asked for
}

// page reads the placements of the call, and adds them to the request. It returns nil if there are none. Errors concern the page as a
// whole: fault.Invalid with the field.
func (c *call) page(req *search.Request) (*page, error) {
	switch {
	case c.asked.Placements == nil && c.asked.PerAdvertiser != 1:
		return nil, fault.Field(op, "per_advertiser", "per_advertiser needs placements")
	case c.asked.Placements == nil:
		return nil, nil
	}
	p := &page{perAdvertiser: c.asked.PerAdvertiser, placements: make([]placement, len(c.asked.Placements))}
	places, filled := 0, 0
	for i, raw := range c.asked.Placements {
		at := &p.placements[i]
		at.id, at.slots = headOf(raw, req.Slots)
		places += at.slots
		var f search.Filter
		if f, at.err = c.filter(raw, p.placements[:i]); at.err == nil {
			at.filter = p.share(f)
			filled += at.slots
		}
	}
	if places > api.MaxPlaces {
		return nil, fault.Field(op, "placements", "the slots of all placements are %d; at most %d can be asked for", places, api.MaxPlaces)
	}
	if filled == 0 { // the matches and the coverage are reported all the same
		p.filters, filled = []search.Filter{{Reserve: req.Reserve}}, 1
	}
	req.Page, req.Slots = &search.Page{Filters: p.filters, PerAdvertiser: p.perAdvertiser}, filled
	return p, nil
}

// headOf returns the id of a placement and its number of slots as far as they are valid, whatever other faults the placement has.
func headOf(raw string, slots int) (id string, n int) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		return "", 0
	}
	if json.Unmarshal(fields["id"], &id) != nil || checkID("id", id) != nil {
		id = ""
	}
	given, ok := fields["slots"]
	if !ok {
		return id, slots
	}
	n, err := api.Value{Kind: api.Number, Raw: string(given)}.Integer("slots", 1, api.MaxPlaces)
	if err != nil {
		n = 0
	}
	return id, n
}

// filter reads a placement's filter. Errors: the faults of this placement, as fault.Invalid with its field.
func (c *call) filter(raw string, earlier []placement) (f search.Filter, err error) {
	p := new(api.PlacementParams)
	if err = api.FromBody(p, []byte(raw)); err == nil {
		err = checkID("id", p.ID)
	}
	if err != nil {
		return f, err
	}
	if slices.ContainsFunc(earlier, func(o placement) bool { return o.id == p.ID }) {
		return f, fault.Field(op, "id", "an earlier placement is called %s, too", p.ID)
	}
	r := resolver{call: c, out: new(targeting.Context)}
	r.blocks(&contextParams{block: p.Block, advertiser: p.BlockAdvertiser, domain: p.BlockDomain, category: p.BlockCategory, uncategorised: p.BlockUncategorised})
	return search.Filter{Reserve: max(c.Reserve, uint64(p.ReserveMicros)), Blocks: r.out.Blocks, Lists: r.out.Lists}, r.err
}

// share returns the index of a filter that is equal to f. It adds f if there is none.
func (p *page) share(f search.Filter) int {
	i := slices.IndexFunc(p.filters, func(o search.Filter) bool { return reflect.DeepEqual(o, f) })
	if i < 0 {
		i = len(p.filters)
		p.filters = append(p.filters, f)
	}
	return i
}

// fill runs the auction over the hits found.
func (p *page) fill(found *search.Answer) {
	candidates := make([]auction.PageCandidate, len(found.Hits))
	for i := range found.Hits {
		candidates[i] = auction.PageCandidate{Candidate: candidate(&found.Hits[i]), Filters: found.Hits[i].Filters}
	}
	var areas []auction.Area
	var filled []*placement
	for i := range p.placements {
		if at := &p.placements[i]; at.err == nil {
			areas = append(areas, auction.Area{Filter: at.filter, Slots: at.slots, Reserve: p.filters[at.filter].Reserve})
			filled = append(filled, at)
		}
	}
	for i, won := range auction.FinishPage(candidates, areas, p.perAdvertiser) {
		filled[i].won = won
	}
}

// whyEmpty calls `count` for each placement that is filled but has no ads.
func (p *page) whyEmpty(count func(*search.Request) *[search.Verdicts]uint64, req *search.Request) {
	for i := range p.placements {
		at := &p.placements[i]
		if at.err != nil || len(at.won) > 0 {
			continue
		}
		at.why = count(p.alone(at, req))
	}
}

// Filled is a placement of a page, as the answer shows it.
type Filled struct {
	ID                  string              // "" if it could not be read
	Won                 []auction.Placement // indexes into Result.Found.Hits
	Matched, Candidates uint64
	Why                 []KeptOut  // verdicts of a placement without ads; nil if they were not asked for or are not known
	Error               *api.Error // why it is not filled, or nil
}

// Placements returns the placements of the request's page, in the order of the request, or nil if it has no page.
func (r *Result) Placements() []Filled {
	if r.page == nil {
		return nil
	}
	list := make([]Filled, len(r.page.placements))
	for i := range list {
		p := &r.page.placements[i]
		list[i] = Filled{ID: p.id, Won: p.won}
		if p.err != nil {
			e := httpapi.Error(p.err)
			list[i].Error = &e
			continue
		}
		list[i].Matched, list[i].Candidates = r.Found.Matched, r.candidatesOf(p)
		if p.why != nil {
			list[i].Why = keptOut(p.why)
		}
	}
	return list
}

// candidatesOf returns the number of candidates of a placement.
func (r *Result) candidatesOf(p *placement) uint64 {
	if p.filter >= len(r.Found.Filtered) { // no shard was asked
		return 0
	}
	return r.Found.Filtered[p.filter]
}

// Candidates returns the number of candidates. With a page, it counts the candidates of all placements that are filled.
func (r *Result) Candidates() uint64 {
	if r.page != nil && !slices.ContainsFunc(r.page.placements, func(p placement) bool { return p.err == nil }) {
		return 0
	}
	return r.Found.Candidates
}
