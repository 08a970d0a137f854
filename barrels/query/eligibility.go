package query

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// eligibility is the one rule of which matching keywords take part in the auction
// (serving.md §4), for searches, cached impacts and explanations alike: the
// standing of a keyword's group, then the keyword itself, then negatives.
type eligibility struct {
	groupReader
	// blockedCampaigns and blockedGroups remember by campaign and by group key
	// whether negatives block the query.
	blockedCampaigns map[*index.Campaign]bool
	blockedGroups    map[uint64]bool
}

// standing is what holds for all keywords of a group in one query.
type standing struct {
	// served: the group is in a slice that is served. Else nothing more is known.
	served  bool
	damaged bool // a parent is missing, so that nothing more is known
	// reason is the first of the group's and its parents' own reasons against its
	// keywords; Eligible: there is none.
	reason     search.Verdict
	advertiser uint64 // id
	modifier   uint64 // permille
	deviceOff  bool   // not shown on the request's device
	negatives  bool   // the group or its campaign has some
	campaign   index.CampaignState
	owner      index.AdvertiserState
}

// matches reports whether the group's enabled keywords count as matching.
func (s *standing) matches() bool {
	return s.served && !s.damaged && (s.reason == search.Eligible || s.reason == search.BudgetExhausted)
}

// stand computes the standing of the g-th group of a block. all: the parents are
// also looked up for a group that cannot match for its own reasons.
func (e *eligibility) stand(v *block.View, g int, s *standing, all bool) {
	*s = standing{}
	flags := v.GroupFlags(g)
	s.reason = ownReason(flags)
	if s.reason != search.Eligible && !all {
		return
	}
	if s.served = e.served.Holds(v.GroupKey(g)); !s.served {
		return
	}
	p := e.state.Parents
	campaign, owner := v.GroupParents(g)
	var ok, ok2 bool
	s.campaign, ok = p.Campaigns.Get(campaign)
	s.owner, ok2 = p.Advertisers.Get(owner)
	if s.damaged = !ok || !ok2; s.damaged {
		return
	}
	s.reason = reasonOf(flags, &s.campaign, &s.owner)
	s.advertiser = owner
	s.negatives = s.campaign.HasNegatives || flags&block.GroupNegatives != 0
	d := e.request.Device
	own, inherited := v.GroupModifier(g, d), s.campaign.Modifiers[d]
	_, shown := auction.Modifier(uint64(own), own != block.NotSet, uint64(inherited), inherited != block.NotSet)
	s.deviceOff = !shown
	switch {
	case own != block.NotSet:
		s.modifier = uint64(own)
	case inherited != block.NotSet:
		s.modifier = uint64(inherited)
	default:
		s.modifier = auction.NoModifier
	}
}

// ownReason is a reason against all keywords of a group that its flags alone give.
func ownReason(flags uint16) search.Verdict {
	switch {
	case flags&block.GroupEnabled == 0:
		return search.GroupPaused
	case flags&block.GroupHasAd == 0:
		return search.NoAd
	}
	return search.Eligible
}

// reasonOf is the first reason against all keywords of a group, in the order of
// search.Verdict.
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

// verdict is the first reason against a keyword of these flags in its group, in
// the order of search.Verdict; the reserve and negatives are not looked at.
func (s *standing) verdict(flags uint8) search.Verdict {
	switch {
	case flags&block.Enabled == 0:
		return search.KeywordPaused
	case s.reason != search.Eligible:
		return s.reason
	case flags&block.HasBid == 0:
		return search.NoBid
	case s.deviceOff:
		return search.DeviceOff
	}
	return search.Eligible
}

// clears reports whether an effective bid takes part: it is not 0 and not below
// the reserve.
func clears(effective, reserve uint64) bool { return effective > 0 && effective >= reserve }

// blocked reports whether a negative of the campaign or of the group blocks the
// query; each is looked at once a query.
func (e *eligibility) blocked(v *block.View, g int, s *standing) bool {
	if !s.negatives {
		return false
	}
	if c := s.campaign.Campaign; len(c.Negatives) > 0 {
		b, known := e.blockedCampaigns[c]
		if !known {
			b = c.Negatives.Block(e.request.Query)
			e.blockedCampaigns[c] = b
		}
		if b {
			return true
		}
	}
	if v.GroupFlags(g)&block.GroupNegatives == 0 {
		return false
	}
	key := v.GroupKey(g)
	b, known := e.blockedGroups[key]
	if !known {
		b = e.blockedByGroup(key)
		e.blockedGroups[key] = b
	}
	return b
}

// blockedByGroup looks at a group's own negatives. A group that cannot be read is
// damage: not shown, and the answer says that it is incomplete.
func (e *eligibility) blockedByGroup(key uint64) bool {
	g, ok := e.group(key)
	if !ok {
		e.damagedAt(key)
		return true
	}
	return g.Negatives.Block(e.request.Query)
}

func (e *eligibility) release() {
	clear(e.blockedCampaigns)
	clear(e.blockedGroups)
	e.groupReader.release()
}
