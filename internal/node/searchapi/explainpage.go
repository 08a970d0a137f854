package searchapi

import (
	"fmt"
	"slices"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/targeting"
)

// explainedPlacement is a placement of a page whose outcome is explained.
type explainedPlacement struct {
	*page
	at *placement
}

// explainedPlacement reads the placements of an explanation, and adds them to the request. It returns nil if there are none. Errors:
// fault.Invalid, and the faults of the placement that is explained.
func (c *call) explainedPlacement(req *search.Request, p *api.ExplainParams) (*explainedPlacement, error) {
	switch n := len(p.Placement); {
	case n > api.MaxPlacements:
		return nil, fault.Field(op, "placement", "%d placements; at most %d can be asked for", n, api.MaxPlacements)
	case n == 0 && p.OfPlacement != "":
		return nil, fault.Field(op, "of_placement", "of_placement names one of the placements, and there are none")
	}
	c.asked = &api.SearchBody{PerAdvertiser: p.PerAdvertiser}
	for _, v := range p.Placement {
		c.asked.Placements = append(c.asked.Placements, v.Raw)
	}
	asked, err := c.page(req)
	if err != nil || asked == nil {
		return nil, err
	}
	i := 0
	if p.OfPlacement != "" {
		i = slices.IndexFunc(asked.placements, func(at placement) bool { return at.id == p.OfPlacement })
	}
	if i < 0 {
		return nil, fault.Field(op, "of_placement", "no placement is called %q", p.OfPlacement)
	}
	return &explainedPlacement{asked, &asked.placements[i]}, asked.placements[i].err
}

// alone returns a request for only one placement of a page, regardless of the others.
func (p *page) alone(at *placement, req *search.Request) *search.Request {
	f, own, context := &req.Page.Filters[at.filter], *req, targeting.Context{}
	if req.Context != nil {
		context = *req.Context
	}
	context.Blocks = slices.Concat(ofPlacement(f.Blocks), context.Blocks)
	context.Lists = slices.Clone(context.Lists)
	for _, l := range f.Lists {
		l.OfPlacement = true
		context.Lists = append(context.Lists, l)
	}
	own.Page, own.Slots, own.Reserve, own.Context = nil, at.slots, f.Reserve, &context
	return &own
}

// ofPlacement returns the blocks of a placement, marked as such.
func ofPlacement(list []*targeting.Blocks) (marked []*targeting.Blocks) {
	for _, b := range list {
		own := *b
		own.OfPlacement = true
		marked = append(marked, &own)
	}
	return marked
}

// settle replaces the verdict Eligible of each match by the outcome in the placement, given that the placements before it were filled. It
// returns notes on the keywords for which the page has no place, by keyword.
func (p *explainedPlacement) settle(matches []search.Explained, hits []search.Hit) map[uint64]string {
	elsewhere, notes := make(map[uint64]string), make(map[uint64]string)
	taken := make(map[uint64][]uint64) // keywords that have places, by advertiser
	won, last := make(map[uint64]auction.Placement), uint64(0)
	for i := range p.placements {
		one := &p.placements[i]
		for _, w := range one.won {
			h := &hits[w.Index]
			taken[h.Advertiser] = append(taken[h.Advertiser], h.Keyword)
			if elsewhere[h.Keyword] = fmt.Sprintf("it has place %d of the placement %s, and a keyword stands once on a page", w.Position, one.id); one == p.at {
				won[h.Keyword], last = w, h.Keyword
			}
		}
		if one == p.at { // later ones take nothing away
			break
		}
	}
	for i := range matches {
		m := &matches[i]
		if m.Verdict != search.Eligible {
			continue
		}
		of := taken[m.Advertiser]
		w, place := won[m.Keyword]
		switch {
		case place:
			m.Verdict, m.Position, m.Price, m.SetBy = search.Won, w.Position, w.Price, w.SetBy
		case elsewhere[m.Keyword] != "":
			m.Verdict, m.LostTo, notes[m.Keyword] = search.Superseded, m.Keyword, elsewhere[m.Keyword]
		case len(of) >= p.perAdvertiser:
			m.Verdict, m.LostTo = search.Superseded, of[len(of)-1]
			notes[m.Keyword] = fmt.Sprintf("its advertiser has as many places of the page as it may have, %d, the last of them with keyword %d", len(of), m.LostTo)
		default:
			m.Verdict, m.LostTo = search.Lost, last
		}
	}
	return notes
}
