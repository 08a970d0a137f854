package query

import (
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/search"
	"adshard/targeting"
)

// pageRanking keeps the best hits of each filter of a page (serving.md §15). A request with a scorer and no page has one filter: its own
// reserve.
type pageRanking struct {
	filters []filterRanking
	// need is the lowest score, before the scorer, that may be among the best of any filter.
	need    uint64
	offered uint64 // number of offers so far
	// blocks means that some filter has blocks. passed remembers, by campaign, for which filters no block meets the campaign or its
	// owner.
	blocks bool
	passed map[*index.Campaign]uint8
}

// filterRanking is the state of one filter.
type filterRanking struct {
	search.Top[hit]
	reserve    uint64
	candidates uint64
	// blocked has the blocks of the request and of the filter. urls means that the filter blocks domains. metGroups is like that of
	// contextRule.
	blocked   targeting.Context
	urls      bool
	metGroups map[uint64]bool
}

// pageCandidate is a posting of the current block that takes part unless a page's filters, negatives or blocked URLs exclude it.
type pageCandidate struct {
	posting                   int
	at                        kv.Place
	effective, quality, score uint64
	kind                      search.MatchType
	level                     search.Level
	again                     bool // it was counted before, in another form
}

// checkPage returns fault.Invalid for a page that no store can answer.
func checkPage(p *search.Page) error {
	switch {
	case len(p.Filters) < 1 || len(p.Filters) > search.MaxPlacements:
		return fault.Field("barrels: search", "placements", "%d filters; 1 to %d can be asked for", len(p.Filters), search.MaxPlacements)
	case p.PerAdvertiser < 1 || p.PerAdvertiser > MaxSlots:
		return fault.Field("barrels: search", "per_advertiser", "%d places; 1 to %d can be asked for", p.PerAdvertiser, MaxSlots)
	}
	return nil
}

// reset begins a search for a page.
func (p *pageRanking) reset(r *search.Request) {
	filters := []search.Filter{{Reserve: r.Reserve}}
	if r.Page != nil {
		filters = r.Page.Filters
	}
	n := len(filters)
	if cap(p.filters) < n {
		p.filters = make([]filterRanking, n, search.MaxPlacements)
	}
	p.filters, p.need, p.offered, p.blocks = p.filters[:n], 0, 0, false
	if p.passed == nil {
		p.passed = make(map[*index.Campaign]uint8)
	}
	var own []*targeting.Blocks
	if r.Context != nil {
		own = r.Context.Blocks
	}
	for i := range p.filters {
		f, of := &p.filters[i], &filters[i]
		f.ResetEach(r.Kept())
		f.reserve, f.candidates = of.Reserve, 0
		f.blocked.Blocks = append(append(f.blocked.Blocks[:0], of.Blocks...), own...)
		f.urls = (&targeting.Context{Blocks: of.Blocks}).BlocksURLs()
		if f.urls && f.metGroups == nil {
			f.metGroups = make(map[uint64]bool)
		}
		p.blocks = p.blocks || len(of.Blocks) > 0
	}
}

// release drops references to a request.
func (p *pageRanking) release() {
	for i := range p.filters {
		f := &p.filters[i]
		f.Reset(1)
		clear(f.blocked.Blocks)
		clear(f.metGroups)
	}
	clear(p.passed)
}

// counts returns the number of candidates of each filter.
func (p *pageRanking) counts() []uint64 {
	list := make([]uint64, len(p.filters))
	for i := range p.filters {
		list[i] = p.filters[i].candidates
	}
	return list
}

// pageMembers decides on the members of a class one by one, except those that cannot be among the best of any filter.
func (r *ranking) pageMembers(m *members) {
	for _, e := range m.ranked {
		switch {
		case e.Product() > 0 && !r.request.ExactCounts && e.Beaten(m.profiles[e.Profile()], m.one, r.page.need):
			r.matched++
		case e.Product() > 0 || e.Bid() != index.NoMatch:
			r.undecided(m, e)
		}
	}
}

// onPage counts a candidate in the filters that it passes, and offers it to those in which it may be among the best.
func (r *ranking) onPage(c *pageCandidate, s *groupStatus) {
	p := r.page
	passes := p.passing(c.effective, s)
	wanted := p.wanting(passes, r.scorer.most(c.score), c.at.Keyword, s.advertiser)
	if passes == 0 || wanted == 0 && (c.again || !r.request.ExactCounts) || s.hasNegatives() && r.blocked(c.at.Key, s) {
		return
	}
	if r.context.urls && r.urlBlocked(c.at) {
		return
	}
	passes &^= r.urlsBlocked(passes, c.at)
	if r.scorer.scoring != nil && passes != 0 && !r.score(c, s) {
		return
	}
	if passes != 0 && !c.again {
		r.candidates++
	}
	for i := range p.filters {
		f := &p.filters[i]
		if passes>>i&1 == 0 {
			continue
		}
		if !c.again {
			f.candidates++
		}
		if wanted>>i&1 != 0 {
			f.Offer(s.advertiser, c.score, c.at.Keyword, r.hit(c.posting, c.quality, c.kind, c.level))
		}
	}
	if passes&wanted != 0 {
		p.need = r.scorer.least(p.least())
		p.offered++
	}
}

// passing returns the filters whose reserve a bid reaches and none of whose blocks meets the campaign or its owner.
func (p *pageRanking) passing(effective uint64, s *groupStatus) (filters uint8) {
	for i := range p.filters {
		if effective >= p.filters[i].reserve {
			filters |= 1 << i
		}
	}
	if !p.blocks || filters == 0 {
		return filters
	}
	passed, known := p.passed[s.campaign.Campaign]
	if !known {
		for i := range p.filters {
			if !p.filters[i].blocked.BlocksOwner(s.campaign.Targeting, &s.owner.Owner) {
				passed |= 1 << i
			}
		}
		p.passed[s.campaign.Campaign] = passed
	}
	return filters & passed
}

// wanting returns those of the given filters in which a candidate with this score may be among the best.
func (p *pageRanking) wanting(of uint8, score, keyword, advertiser uint64) (filters uint8) {
	for i := range p.filters {
		if of>>i&1 != 0 && p.filters[i].Wants(advertiser, score, keyword) {
			filters |= 1 << i
		}
	}
	return filters
}

// urlsBlocked returns those of the given filters that block the page to which a keyword leads.
func (r *ranking) urlsBlocked(of uint8, at kv.Place) (filters uint8) {
	for i := range r.page.filters {
		if f := &r.page.filters[i]; of>>i&1 != 0 && f.urls && r.urlBlockedBy(&f.blocked, f.metGroups, at) {
			filters |= 1 << i
		}
	}
	return filters
}

// least returns the lowest threshold of all filters.
func (p *pageRanking) least() uint64 {
	least := p.filters[0].Threshold()
	for i := range p.filters[1:] {
		least = min(least, p.filters[i+1].Threshold())
	}
	return least
}
