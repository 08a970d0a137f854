package oracle

import (
	"slices"

	"adshard/search"
)

// Placement is a placement of a page (serving.md §15).
type Placement struct {
	Slots   int
	Reserve uint64 // micros
	// The blocks in addition to those of the request.
	Advertisers         []uint64
	Domains, Categories []string
	Uncategorised       bool
}

// Page is the answer to a request with placements.
type Page struct {
	Matched, Candidates uint64
	Placements          []Result
}

// Page fills the placements of a page. An advertiser has at most perAdvertiser places on it. Slots and Reserve of the request are
// ignored.
func (o *Oracle) Page(r Request, list []Placement, perAdvertiser int) (*Page, error) {
	page := &Page{}
	var taken []*Judged // the keywords that have a place
	candidates := map[uint64]bool{}
	for i := range list {
		own := list[i].request(r)
		judged, truncated, err := o.matching(&own)
		if err != nil {
			return nil, err
		}
		result := Result{Truncated: truncated}
		var order []*Judged
		for _, j := range judged {
			if result.count(j); j.Verdict == search.Eligible {
				order = append(order, j)
				candidates[j.Keyword.ID] = true
			}
		}
		for len(result.Ads) < own.Slots {
			order = remaining(order, taken, perAdvertiser)
			if len(order) == 0 {
				break
			}
			won := order[0]
			taken = append(taken, won)
			won.Verdict, won.Position, won.Price = search.Won, len(result.Ads)+1, own.Reserve
			for _, next := range remaining(order, taken, perAdvertiser) {
				if next.Advertiser.ID == won.Advertiser.ID {
					continue
				}
				if price := (next.Score + won.Quality - 1) / won.Quality; price > own.Reserve {
					won.Price, won.SetBy = price, next.Keyword.ID
				}
				break
			}
			result.Ads = append(result.Ads, won.placed(&own))
		}
		page.Matched = result.Matched
		page.Placements = append(page.Placements, result)
	}
	page.Candidates = uint64(len(candidates))
	return page, nil
}

// remaining returns the candidates whose keyword has no place yet and whose advertiser has fewer than perAdvertiser
// places.
func remaining(order, taken []*Judged, perAdvertiser int) []*Judged {
	return slices.DeleteFunc(slices.Clone(order), func(j *Judged) bool {
		places := 0
		for _, t := range taken {
			if t.Keyword.ID == j.Keyword.ID {
				return true
			}
			if t.Advertiser.ID == j.Advertiser.ID {
				places++
			}
		}
		return places >= perAdvertiser
	})
}

// request returns a page's request as a request for only this placement.
func (p *Placement) request(r Request) Request {
	r.Slots, r.Reserve = p.Slots, p.Reserve
	c := Context{}
	if r.Context != nil {
		c = *r.Context
	}
	c.BlockAdvertisers = slices.Concat(c.BlockAdvertisers, p.Advertisers)
	c.BlockDomains = slices.Concat(c.BlockDomains, p.Domains)
	c.BlockCategories = slices.Concat(c.BlockCategories, p.Categories)
	c.BlockUncategorised = c.BlockUncategorised || p.Uncategorised
	r.Context = &c
	return r
}
