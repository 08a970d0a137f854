package query

import (
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/search"
	"adshard/search/display"
	"adshard/targeting"
)

// contextRule applies what a request's context decides (serving.md §12 and §14).
type contextRule struct {
	targeting.Judge
	request *targeting.Context // nil if the request has none
	urls    bool               // whether it blocks domains
	ids     bool               // whether it blocks advertisers by id
	// off means that the context is ignored, since the results must hold for every context, as cached impacts do.
	off bool
	// unresolved means that something depends on a context, and the request has none.
	unresolved bool
	// metGroups remembers, by group key, whether blocks meet all ads of the group.
	metGroups map[uint64]bool
	hosts     metHosts
}

// reset begins a request. With explain, outcomes name their criteria.
func (c *contextRule) reset(r *search.Request, explain bool) {
	c.Judge.Reset(r.Context, explain)
	c.hosts.reset()
	c.request, c.off, c.unresolved = r.Context, false, false
	c.urls, c.ids = r.Context != nil && r.Context.BlocksURLs(), r.Context != nil && r.Context.BlocksIDs()
}

// release drops references to a request.
func (c *contextRule) release() {
	c.Judge.Reset(nil, false)
	c.request, c.urls, c.ids = nil, false, false
	clear(c.metGroups)
}

// target applies the request's context to the status of a group.
func (e *eligibility) target(s *groupStatus, key uint64, flags uint16) {
	switch {
	case e.context.off || s.reason != search.Eligible:
		return
	case e.context.request == nil:
		e.context.unresolved = true
		return
	}
	var own *targeting.Group
	switch {
	case block.GroupFactor(flags) > 0:
		g, ok := e.group(key)
		if s.damaged = !ok; s.damaged {
			return
		}
		own = g.Targeting
	case !e.context.Explains() && !e.context.ids:
		e.stand(s)
		return
	}
	o := e.context.Group(s.campaign.Targeting, own, &s.owner.Owner)
	if s.reason = search.Targeted(o.Verdict); s.reason == search.Eligible {
		s.modifier = o.Factors.Apply(s.modifier)
	}
	if e.context.Explains() {
		named := o
		s.outcome = &named
	}
}

// stand applies the standing of the campaign's profile.
func (e *eligibility) stand(s *groupStatus) {
	of := e.standing(s.campaign.ProfileRef())
	switch {
	case !of.Passes:
		s.reason = search.Targeted(of.Verdict)
	case !of.Plain:
		s.modifier = of.Factors.Apply(s.modifier)
	}
}

// always is the standing of a profile that no context affects.
var always = targeting.Standing{Passes: true, Plain: true, M: targeting.Default}

// standing returns how a profile stands in the request's context.
func (e *eligibility) standing(of index.ProfileRef) *targeting.Standing {
	switch {
	case !of.Targeted() && !e.context.Contextual():
		return &always
	case e.context.request == nil:
		e.context.unresolved = true
		return &always
	}
	return e.context.Profile(of.Number(), e.state.Parents.Profiles.Of)
}

// errUnresolved returns an error if a context was needed and the request had none: its master knows nothing of targeting.
func (e *eligibility) errUnresolved(op string) error {
	if !e.context.unresolved {
		return nil
	}
	return fault.Newf(fault.Version, op, "the request has no context, and campaigns here have targeting: update the program that asks")
}

// urlBlocked reports whether a block of the request meets the page to which a keyword leads.
func (e *eligibility) urlBlocked(at kv.Place) bool {
	return e.urlBlockedBy(e.context.request, e.context.metGroups, at)
}

// urlBlockedBy reports whether the blocks of a context meet the page to which a keyword leads: its own page, or the pages of
// all ads of its group. metGroups remembers the latter by group key. A group that cannot be read counts as blocked and is
// recorded as damage, which makes the answer incomplete.
func (e *eligibility) urlBlockedBy(c *targeting.Context, metGroups map[uint64]bool, at kv.Place) bool {
	g, ok := e.group(at.Key)
	if !ok {
		e.damagedAt(at.Key)
		return true
	}
	url, ok := e.keywordURL(g, at)
	if !ok {
		e.damagedAt(at.Key)
		return true
	}
	if url != "" {
		return c.BlocksURL(url)
	}
	met, known := metGroups[at.Key]
	if !known {
		met = len(allowedBy(c, g.Ads.Read())) == 0
		metGroups[at.Key] = met
	}
	return met
}

// allowed returns the ads that no block of the request meets.
func (e *eligibility) allowed(ads []display.Ad) []display.Ad {
	return allowedBy(e.context.request, ads)
}

// allowedBy returns the ads that no block of a context meets.
func allowedBy(c *targeting.Context, ads []display.Ad) []display.Ad {
	var out []display.Ad
	for i := range ads {
		if !c.BlocksURL(ads[i].FinalURL) {
			out = append(out, ads[i])
		}
	}
	return out
}

// shown returns the ads from which a keyword's ad is chosen.
func (e *eligibility) shown(g *index.Group, at kv.Place) []display.Ad {
	if url, ok := e.keywordURL(g, at); !e.context.urls || ok && url != "" {
		return g.Ads.Read()
	}
	return e.allowed(g.Ads.Read())
}

// keywordURL returns a keyword's own URL, or "" if it has none. ok is false if the keyword cannot be read.
func (g *groupReader) keywordURL(of *index.Group, at kv.Place) (url string, ok bool) {
	if !of.Partial {
		return of.URLs[at.Keyword], true
	}
	k, err := g.keyword(at)
	if err == nil {
		url, err = k.FinalURL()
	}
	return url, err == nil
}
