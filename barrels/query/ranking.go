package query

import (
	"slices"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/load"
	"adshard/search"
	"adshard/targeting"
)

// ranking counts what matches and keeps the best hits of distinct advertisers. It
// is the sink of a search's scan.
type ranking struct {
	impactCache
	top                 search.Top[hit]
	page                *pageRanking // used instead of top; nil if the request has neither a page nor a scorer
	ofPage              pageRanking  // the value to which page points
	matched, candidates uint64
	factor              uint64 // bound of the factor (permille) by which targeting, except the group's own, multiplies the current posting's bid
	// seen are the keywords counted so far that may come again in another form.
	seen    map[uint64]struct{}
	sampler load.Sampler // of a search whose load is counted
}

// hit is what the answer needs of one of the best hits: a posting of a cached view. Its group is read only
// if the hit stays, since most hits lose to later ones.
type hit struct {
	view    *block.View
	copied  *groupIDs // set if the view is not cached
	quality uint64
	posting uint16
	kind    search.MatchType
	level   search.Level
}

// groupIDs are the ring key and the ids of a group and its campaign.
type groupIDs struct{ key, id, campaign uint64 }

// group returns the key and ids of the hit's group.
func (h *hit) group() groupIDs {
	if h.copied != nil {
		return *h.copied
	}
	return idsOf(h.view, int(h.posting))
}

// idsOf returns the key and ids of the group of posting i.
func idsOf(v *block.View, i int) groupIDs {
	g := v.GroupOf(i)
	campaign, _ := v.GroupParents(g)
	return groupIDs{key: v.GroupKey(g), id: v.GroupID(g), campaign: campaign}
}

// reset begins a search.
func (r *ranking) reset() {
	r.top.Reset(r.request.Slots + 1)
	r.matched, r.candidates = 0, 0
	r.view = nil
	if r.page = nil; r.request.Page != nil || r.scorer.scoring != nil {
		r.page = &r.ofPage
		r.page.reset(r.request)
	}
}

// threshold returns the score below which no posting is among the best.
func (r *ranking) threshold() uint64 {
	if r.page != nil {
		return r.page.need
	}
	return r.top.Threshold()
}

// moment returns a number that changes whenever thresholds have changed.
func (r *ranking) moment() uint64 {
	if r.page != nil {
		return r.page.offered
	}
	return r.top.Threshold()
}

// thresholds appends the block-max tests of all lists of the best hits.
func (r *ranking) thresholds(list []block.Threshold, best search.Level) []block.Threshold {
	if r.page == nil {
		return append(list, block.NewThreshold(r.top.Threshold(), max(r.request.Reserve, 1), best))
	}
	for i := range r.page.filters {
		f := &r.page.filters[i]
		list = append(list, block.NewThreshold(r.scorer.least(f.Threshold()), max(f.reserve, 1), best))
	}
	return list
}

func (r *ranking) release() {
	r.top.Reset(1)
	if r.page != nil {
		r.page.release()
		r.page = nil
	}
	clear(r.seen)
	r.sampler.Release()
	r.impactCache.release()
}

// enter implements sink.
func (r *ranking) enter(b blockRef, term uint64) {
	if b.cached == nil {
		r.begin(b) // its view may have different bytes than before
	}
	if r.sampler.Active() {
		r.sampler.Enter(b.view, term)
	}
}

// prune returns the classes that may still be among the best if none matches better than at the level
// `best`, which saves matching the others. It changes the list.
func (r *ranking) prune(list []classRef, best search.Level) []classRef {
	need := r.threshold()
	if need == 0 {
		return list
	}
	r.fetch(list)
	n := 0
	for i := range list {
		if !r.prunable(&list[i], best, need) {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// prunable reports whether none of a class's postings can reach the score `need`.
func (r *ranking) prunable(c *classRef, best search.Level, need uint64) bool {
	b := c.cached
	if b == nil {
		return false
	}
	impacts := r.impacts(b)
	class := impacts.Class(b, int(c.class))
	if class.Least == index.SomeUndecided {
		return false
	}
	most := impacts.Max(b, int(c.class))
	if class.Targeted {
		most = index.Reachable(most, impacts.Most(b, class))
	}
	return index.Below(most, auction.Quality(1, b.Classes()[int(c.class)].Type.Permille(), best.Permille()), need)
}

// fetch prefetches the impacts of classes, so that their memory accesses overlap.
func (r *ranking) fetch(list []classRef) {
	for i := range list {
		b := list[i].cached
		if b == nil {
			continue
		}
		if j := b.Impacts[r.request.Device].Load(); j != nil {
			r.touched |= j.Reach | uint64(j.Class(b, int(list[i].class)).Least)
		}
	}
}

// match implements sink.
func (r *ranking) match(list []classRef) {
	r.fetch(list)
	for i := range list {
		c := &list[i]
		if c.cached != nil {
			r.class(c.cached, int(c.class), c.level)
		} else {
			r.use(c.blockRef)
			r.factor = r.state.Parents.MaxFactor
			r.posting(int(c.class), c.level)
		}
	}
}

// class ranks a class of a cached block.
func (r *ranking) class(b *index.Block, i int, level search.Level) {
	if r.sampler.Active() {
		first, end := b.Range(i)
		r.sampler.Members(b, b.Members()[first:end])
	}
	j, kind := r.impacts(b), b.Classes()[i].Type
	class := j.Class(b, i)
	m := members{
		block: b, profiles: j.Profiles(b), ranked: j.Ranked(b, i), kind: kind, level: level, one: auction.Quality(1, kind.Permille(), level.Permille()),
		least: index.EffectiveBid(min(max(r.request.Reserve, 1), uint64(index.Undecided)-1)),
	}
	switch {
	case r.page != nil:
		r.pageMembers(&m)
	case class.Least <= m.least || r.request.ExactCounts && class.Live > class.Candidates && someAsked(m.ranked):
		r.members(&m)
	case class.Live == 0 || !class.Targeted && !r.context.Contextual() || !r.decided(&m, class):
		r.count(&m, class)
	}
}

// count counts a class whose members all take part, and offers those that may be among the best.
func (r *ranking) count(m *members, class *index.ClassImpact) {
	r.matched += uint64(class.Live)
	r.candidates += uint64(class.Candidates)
	if class.Least != index.Undecided && m.ranked[0].Product()*m.one >= r.top.Threshold() {
		r.best(m)
	}
}

// decided counts and ranks a class if the request's context decides whether it takes part or changes its
// bids. Otherwise it returns false.
func (r *ranking) decided(m *members, class *index.ClassImpact) bool {
	switch {
	case class.Profile == index.MixedProfiles || r.context.ids || r.context.urls:
		r.members(m)
		return true
	case !r.request.ExactCounts && m.ranked[0].Beaten(m.profiles[class.Profile], m.one, r.top.Threshold()):
		r.matched += uint64(class.Live)
		return true
	}
	switch of := r.standing(m.profiles[class.Profile]); {
	case !of.Passes:
		r.matched += uint64(class.Live)
	case !of.Plain:
		r.members(m)
	default:
		return false
	}
	return true
}

// members are the members of a matching class of a cached block.
type members struct {
	block    *index.Block
	profiles []index.ProfileRef
	ranked   []index.Impact
	one      uint64             // Q for quality 1
	least    index.EffectiveBid // a bid up to this takes no part
	kind     search.MatchType
	level    search.Level
}

// someAsked reports whether the negatives of any member's advertiser must be checked.
func someAsked(ranked []index.Impact) bool {
	return slices.ContainsFunc(ranked, func(e index.Impact) bool { return e&index.OwnerNegatives != 0 })
}

// blockedOwner reports whether a negative of a member's advertiser blocks the query. The member must have
// OwnerNegatives.
func (r *ranking) blockedOwner(b *index.Block, e index.Impact) bool {
	a, ok := r.state.Parents.Advertisers.Get(b.Advertiser(e.Posting()))
	return !ok || r.blockedByAdvertiser(&a) // impacts are valid for these parents, so the advertiser is there
}

// best offers the members of a class that may be among the best, at most one of each advertiser. It
// also counts the candidates it visits whose advertisers have negatives.
func (r *ranking) best(m *members) {
	for _, e := range m.ranked {
		score := e.Product() * m.one
		if score == 0 || e&index.Dominated != 0 || r.top.Lost(score, m.block.View.Keyword(e.Posting())) {
			return
		}
		if e&index.OwnerNegatives != 0 {
			if r.blockedOwner(m.block, e) {
				continue
			}
			r.candidates++
		}
		r.offer(m, e, score)
	}
}

// members ranks the members of a class one by one.
func (r *ranking) members(m *members) {
	for _, e := range m.ranked {
		bid := e.Bid()
		switch bid {
		case index.NoMatch:
			continue
		case index.Undecided:
			r.undecided(m, e)
			continue
		}
		profile := m.profiles[e.Profile()]
		if !r.request.ExactCounts && e.Beaten(profile, m.one, r.top.Threshold()) {
			r.matched++
			continue
		}
		of := r.standing(profile)
		if of.Passes && !of.Plain && e&index.Modified != 0 {
			r.undecided(m, e)
			continue
		}
		r.matched++
		if of.Passes && bid > index.NoCandidate {
			r.member(m, e, uint64(bid-1)*uint64(of.M)/targeting.Default)
		}
	}
}

// undecided decides on a single member.
func (r *ranking) undecided(m *members, e index.Impact) {
	r.use(refOf(m.block))
	r.factor = r.state.Parents.MaxFactor
	if p := e.Profile(); p != index.NoProfile {
		r.factor = m.profiles[p].Most()
	}
	r.posting(e.Posting(), m.level)
}

// member counts and ranks a member with its effective bid, unless a negative of its advertiser or a block of
// the request excludes it.
func (r *ranking) member(m *members, e index.Impact, effective uint64) {
	if effective < max(r.request.Reserve, 1) {
		return
	}
	score := effective * e.Quality() * m.one
	lost := score < r.top.Threshold() || r.top.Lost(score, m.block.View.Keyword(e.Posting()))
	if r.context.urls { // a page is looked at only if the answer needs it
		lost = lost || !r.top.Wants(m.block.Advertiser(e.Posting()), score, m.block.View.Keyword(e.Posting()))
	}
	if e&index.OwnerNegatives != 0 && (lost && !r.request.ExactCounts || r.blockedOwner(m.block, e)) {
		return
	}
	if r.context.ids && r.context.request.BlocksAdvertiser(m.block.Advertiser(e.Posting())) {
		return
	}
	if r.context.urls && (lost && !r.request.ExactCounts || r.pageBlocked(m.block, e.Posting())) {
		return
	}
	r.candidates++
	if !lost {
		r.offer(m, e, score)
	}
}

// offer offers a posting that passed all checks to the list of the best.
func (r *ranking) offer(m *members, e index.Impact, score uint64) {
	posting := e.Posting()
	r.top.Offer(m.block.Advertiser(posting), score, m.block.View.Keyword(posting), hit{
		view: &m.block.View, posting: uint16(posting), quality: e.Quality() * m.one, kind: m.kind, level: m.level,
	})
}
