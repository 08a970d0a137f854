package query

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/record"
	"adshard/search"
	"adshard/targeting"
)

// eligibility is the one rule that decides which matching keywords take part in the auction (serving.md
// §4). Searches, cached impacts and explanations all use it. It checks the status of a keyword's group
// first, then the keyword itself, then negatives.
type eligibility struct {
	groupReader
	// blockedAdvertisers, blockedCampaigns and blockedGroups remember, by advertiser, campaign and group
	// key, whether negatives block the query.
	blockedAdvertisers map[*index.Advertiser]bool
	blockedCampaigns   map[*index.Campaign]bool
	blockedGroups      map[uint64]bool
	context            contextRule
	scorer             scorerRule
}

// groupStatus is the status that all keywords of a group share in one query.
type groupStatus struct {
	// served means that the group is in a slice that is served. Otherwise nothing more is known.
	served  bool
	damaged bool // a parent is missing, so nothing more is known
	// reason is the first reason of the group itself or its parents against its keywords, or Eligible if
	// there is none.
	reason       search.Verdict
	throttled    bool               // whether the campaign takes part depends on the request
	targeted     bool               // whether it takes part, and its modifier, depend on the request's context
	advertiser   uint64             // id
	modifier     uint64             // permille
	shown        bool               // whether it is shown on the request's device
	outcome      *targeting.Outcome // outcome for the request's context, or nil if the context does not matter
	ownNegatives bool               // the group itself has negatives
	campaign     index.CampaignState
	owner        index.AdvertiserState
}

// matches reports whether the group's enabled keywords count as matches.
func (s *groupStatus) matches() bool {
	return s.served && !s.damaged &&
		(s.reason == search.Eligible || s.reason == search.BudgetExhausted || s.reason == search.Throttled || s.reason.OfTargeting())
}

// hasNegatives reports whether the group, its campaign or its advertiser has negatives.
func (s *groupStatus) hasNegatives() bool {
	return s.ownNegatives || s.campaign.HasNegatives || s.owner.HasNegatives
}

// canMatch are the flags that a group needs for any of its keywords to match.
const canMatch = block.GroupEnabled | block.GroupHasAd

// setStatus computes the status of the g-th group of a block. If `all` is set, it does so even if the
// group's flags already keep its keywords from matching.
func (e *eligibility) setStatus(v *block.View, g int, s *groupStatus, all bool) {
	*s = groupStatus{}
	flags := v.GroupFlags(g)
	if flags&canMatch != canMatch && !all {
		return
	}
	if s.served = e.served.Holds(v.GroupKey(g)); !s.served {
		return
	}
	campaign, owner := v.GroupParents(g)
	e.complete(s, v.GroupKey(g), flags, campaign, owner, v.GroupModifier(g, e.request.Device))
}

// complete completes the status of a served group. `own` is the group's own modifier on the request's
// device.
func (e *eligibility) complete(s *groupStatus, key uint64, flags uint16, campaign, owner uint64, own uint16) {
	p := e.state.Parents
	var ok, ok2 bool
	s.campaign, ok = p.Campaigns.Get(campaign)
	s.owner, ok2 = p.Advertisers.Get(owner)
	if s.damaged = !ok || !ok2; s.damaged {
		return
	}
	s.reason = reasonOf(flags, &s.campaign, &s.owner)
	if s.throttled = s.reason == search.Eligible && s.campaign.Withheld > 0; s.throttled {
		if !auction.TakesPart(e.request.RequestID, campaign, s.campaign.Withheld) {
			s.reason = search.Throttled
		}
	}
	s.advertiser = owner
	s.ownNegatives = flags&block.GroupNegatives != 0
	inherited := s.campaign.Modifiers[e.request.Device]
	s.modifier, s.shown = modifier(own, uint64(inherited), inherited != block.NotSet)
	if s.targeted = s.campaign.Targeted || block.GroupFactor(flags) > 0; s.targeted || e.context.Contextual() {
		e.target(s, key, flags)
	}
}

// modifier is auction.Modifier for the modifier of a group in a block.
func modifier(own uint16, inherited uint64, inheritedSet bool) (permille uint64, shown bool) {
	return auction.Modifier(uint64(own), own != block.NotSet, inherited, inheritedSet)
}

// reasonOf returns the first reason that holds against all keywords of a group in every request, in the
// order of search.Verdict.
func reasonOf(flags uint16, c *index.CampaignState, a *index.AdvertiserState) search.Verdict {
	switch {
	case flags&block.GroupEnabled == 0:
		return search.GroupPaused
	case !c.Enabled:
		return search.CampaignPaused
	case !a.Enabled:
		return search.AdvertiserPaused
	case flags&block.GroupHasAd == 0:
		return search.NoAd
	case c.Exhausted:
		return search.BudgetExhausted
	}
	return search.Eligible
}

// verdict returns the first reason against a keyword with the given flags and effective bid in its group,
// in the order of search.Verdict. It does not check negatives, the last and most expensive reason;
// blocked does.
func (s *groupStatus) verdict(flags uint8, effective, reserve uint64) search.Verdict {
	switch {
	case flags&block.Enabled == 0:
		return search.KeywordPaused
	case s.reason != search.Eligible:
		return s.reason
	case flags&block.HasBid == 0:
		return search.NoBid
	case !s.shown:
		return search.DeviceOff
	case effective == 0 || effective < reserve:
		return search.BelowReserve
	}
	return search.Eligible
}

// blocked reports whether a negative of the group with this key, its campaign or its advertiser blocks
// the query. It reads the negatives of the group; the others are in memory. It checks each list only once
// per query. explanation.nameBlocker names the negative.
func (e *eligibility) blocked(key uint64, s *groupStatus) bool {
	if e.blockedByAdvertiser(&s.owner) {
		return true
	}
	if c := s.campaign.Campaign; s.campaign.HasNegatives && once(e.blockedCampaigns, c, c.Negatives, e.request.Query) {
		return true
	}
	if !s.ownNegatives {
		return false
	}
	b, known := e.blockedGroups[key]
	if !known {
		b = e.blockedByGroup(key)
		e.blockedGroups[key] = b
	}
	return b
}

// blockedByAdvertiser reports whether an advertiser's own negatives, which apply to all of its groups,
// block the query.
func (e *eligibility) blockedByAdvertiser(a *index.AdvertiserState) bool {
	return a.HasNegatives && once(e.blockedAdvertisers, a.Advertiser, a.Advertiser.Negatives, e.request.Query)
}

// once reports whether negatives block a query, and remembers the result for their owner.
func once[T any](known map[*T]bool, owner *T, list record.Negatives, q *search.Query) bool {
	b, ok := known[owner]
	if !ok {
		b = list.Block(q)
		known[owner] = b
	}
	return b
}

// blockedByGroup reports whether a group's own negatives block the query. A group that cannot be read
// counts as blocked and is recorded as damage, which makes the answer incomplete.
func (e *eligibility) blockedByGroup(key uint64) bool {
	g, ok := e.group(key)
	if !ok {
		e.damagedAt(key)
		return true
	}
	return g.Negatives.Block(e.request.Query)
}

func (e *eligibility) release() {
	clear(e.blockedAdvertisers)
	clear(e.blockedCampaigns)
	clear(e.blockedGroups)
	e.context.release()
	e.scorer = scorerRule{}
	e.groupReader.release()
}
