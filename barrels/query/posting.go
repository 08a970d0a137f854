package query

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/search"
	"adshard/targeting"
)

// posting counts and ranks one matching posting of the current block, if the block is not cached or
// the outcome depends on the query.
func (r *ranking) posting(i int, level search.Level) {
	v := r.view
	keyword, bid, group, quality, flags := v.Detail(i)
	kind := v.Type(i)
	alike := level <= search.Folded && r.formsAlike(kind)
	if flags&block.Enabled == 0 || flags&block.Later != 0 && alike {
		return // the first form agrees just as well if no language is needed
	}
	if r.sampler.Active() && r.cached == nil {
		r.sampler.Match(v, group)
	}
	if !r.request.ExactCounts && r.hopeless(group, bid, quality, kind, level) {
		return
	}
	s := r.status(group)
	if s.damaged { // it should be served but cannot be read
		r.damagedAt(v.GroupKey(group))
	}
	if !s.matches() {
		return
	}
	again := flags&block.Several != 0 && !alike && r.countedBefore(keyword)
	if !again {
		r.matched++
	}
	effective, q, score := auction.Rank(bid, s.modifier, uint64(quality), kind.Permille(), level.Permille())
	if s.verdict(flags, effective, r.request.Reserve) != search.Eligible {
		return
	}
	if r.page != nil {
		r.onPage(&pageCandidate{i, kv.Place{Key: v.GroupKey(group), Keyword: keyword}, effective, q, score, kind, level, again}, s)
		return
	}
	wanted := r.top.Wants(s.advertiser, score, keyword)
	if !wanted && (again || !r.request.ExactCounts) || s.hasNegatives() && r.blocked(v.GroupKey(group), s) {
		return
	}
	switch {
	case !r.context.urls:
	case r.cached != nil && r.pageBlocked(r.cached, i), r.cached == nil && r.urlBlocked(kv.Place{Key: v.GroupKey(group), Keyword: keyword}):
		return
	}
	if !again {
		r.candidates++
	}
	if wanted {
		r.top.Offer(s.advertiser, score, keyword, r.hit(i, q, kind, level))
	}
}

// hit returns what is kept of posting i of the current block.
func (r *ranking) hit(i int, quality uint64, kind search.MatchType, level search.Level) hit {
	h := hit{view: r.view, posting: uint16(i), quality: quality, kind: kind, level: level}
	if r.cached == nil { // the view will be opened on other bytes
		ids := idsOf(r.view, i)
		h.view, h.copied = nil, &ids
	}
	return h
}

// hopeless reports whether a keyword is certainly below the threshold, whatever its campaign and
// advertiser, so that they need not be looked up. Such a keyword is not counted, so totals are then
// lower bounds.
func (r *ranking) hopeless(group int, bid uint64, quality uint8, kind search.MatchType, level search.Level) bool {
	need := r.threshold()
	if need == 0 {
		return false
	}
	d := r.request.Device
	most, _ := modifier(r.view.GroupModifier(group, d), r.state.Parents.MaxModifier[d], true)
	if factor := r.factor * max(block.GroupFactor(r.view.GroupFlags(group)), 1); factor > 1000 {
		most = min((most*factor+999)/1000, targeting.MaxModifier)
	}
	_, _, score := auction.Rank(bid, most, uint64(quality), kind.Permille(), level.Permille())
	return score < need
}

// countedBefore reports whether a keyword was counted before, and counts it.
func (r *ranking) countedBefore(keyword uint64) bool {
	n := len(r.seen)
	r.seen[keyword] = struct{}{}
	return len(r.seen) == n
}

// formsAlike reports whether all forms of a keyword match equally at a level that needs no language.
// They do not if the whole query must agree in any order: its other words may agree by inflection or
// as synonyms, which depend on the language.
func (r *ranking) formsAlike(t search.MatchType) bool {
	rule := &r.request.Profile[t]
	return rule.Ordered || rule.Reach <= search.Folded || rule.Others && !rule.Adjacent
}
