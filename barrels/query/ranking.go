package query

import (
	"math/bits"
	"slices"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/load"
	"adshard/search"
)

// ranking counts what matches and keeps the best hits of distinct advertisers. It
// is the sink of a search's scan.
type ranking struct {
	impactCache
	top                 search.Top[hit]
	matched, candidates uint64
	// seen are the keywords counted that may come again in another form.
	seen    map[uint64]struct{}
	sampler load.Sampler // of a search whose load is counted
}

// hit is what the answer needs of one of the best: a posting of a cached view. Its group is read
// only if it stays, since most hits lose to later ones.
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

// group returns those of the hit.
func (h *hit) group() groupIDs {
	if h.copied != nil {
		return *h.copied
	}
	return idsOf(h.view, int(h.posting))
}

// idsOf returns those of the group of posting i.
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
}

func (r *ranking) release() {
	r.top.Reset(1)
	clear(r.seen)
	r.sampler.Release()
	r.impactCache.release()
}

// enter implements sink.
func (r *ranking) enter(b blockRef, term uint64) {
	if b.cached == nil {
		r.begin(b) // its view may have other bytes than before
	}
	if r.sampler.Active() {
		r.sampler.Enter(b.view, term)
	}
}

// prune returns the classes that may still be among the best if none matches better than at level
// best, which saves matching the others. It changes the list.
func (r *ranking) prune(list []classRef, best search.Level) []classRef {
	need := r.top.Threshold()
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

// prunable reports whether none of a class's postings can reach a score of need.
func (r *ranking) prunable(c *classRef, best search.Level, need uint64) bool {
	b := c.cached
	if b == nil {
		return false
	}
	impacts := r.impacts(b)
	class := impacts.Class(b, int(c.class))
	most := impacts.Max(b, int(c.class))
	switch class.Least {
	case index.SomeUndecided:
		return false
	case index.SomeTargeted: // the bid was rounded down before the factor, by less than 1 micro
		most = (most+index.MaxQuality)*r.state.Parents.MaxFactor/1000 + 1
	}
	hi, lo := bits.Mul64(most, auction.Quality(1, b.Classes()[int(c.class)].Type.Permille(), best.Permille()))
	return hi == 0 && lo < need
}

// fetch prefetches the impacts of classes, so that their memory accesses overlap.
func (r *ranking) fetch(list []classRef) {
	for i := range list {
		b := list[i].cached
		if b == nil {
			continue
		}
		if j := b.Impacts[r.request.Device].Load(); j != nil {
			r.touched |= j.View | uint64(j.Class(b, int(list[i].class)).Least)
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
	class, one := j.Class(b, i), auction.Quality(1, kind.Permille(), level.Permille())
	least := index.EffectiveBid(min(max(r.request.Reserve, 1), uint64(index.Undecided)-1)) // and more take part
	if class.Least <= least || r.context.Contextual() || r.request.ExactCounts && class.Live > class.Candidates && someAsked(j.Ranked(b, i)) {
		r.members(b, j.Ranked(b, i), one, least, kind, level)
		return
	}
	r.matched += uint64(class.Live)
	r.candidates += uint64(class.Candidates)
	if class.Least != index.Undecided && j.Max(b, i)*one >= r.top.Threshold() {
		r.best(b, j.Ranked(b, i), one, kind, level)
	}
}

// someAsked reports whether the negatives of some member's advertiser must be checked.
func someAsked(ranked []index.Impact) bool {
	return slices.ContainsFunc(ranked, func(e index.Impact) bool { return e&index.OwnerNegatives != 0 })
}

// blockedOwner reports whether a negative of the advertiser of a member of a block blocks the
// query: one with OwnerNegatives.
func (r *ranking) blockedOwner(b *index.Block, e index.Impact) bool {
	a, ok := r.state.Parents.Advertisers.Get(b.Advertiser(e.Posting()))
	return !ok || r.blockedByAdvertiser(&a) // impacts hold for these parents: it is there
}

// best offers the members of a class that may be among the best, at most one of each advertiser. It
// also counts the candidates it visits whose advertisers have negatives. one is Q for quality 1.
func (r *ranking) best(b *index.Block, ranked []index.Impact, one uint64, kind search.MatchType, level search.Level) {
	for _, e := range ranked {
		score := e.Product() * one
		if score == 0 || e&index.Dominated != 0 || r.top.Lost(score, b.View.Keyword(e.Posting())) {
			return
		}
		if e&index.OwnerNegatives != 0 {
			if r.blockedOwner(b, e) {
				continue
			}
			r.candidates++
		}
		r.offer(b, e, one, kind, level)
	}
}

// members ranks the members of a class one by one; bids up to least take no part. one is Q for
// quality 1.
func (r *ranking) members(b *index.Block, ranked []index.Impact, one uint64, least index.EffectiveBid, kind search.MatchType, level search.Level) {
	for _, e := range ranked {
		switch bid := e.Bid(); {
		case bid != index.NoMatch && (bid == index.Undecided || e&index.Targeted != 0 || r.context.Contextual()):
			r.use(refOf(b))
			r.posting(e.Posting(), level)
		case bid == index.NoMatch:
		default:
			r.matched++
			if bid <= least {
				continue
			}
			lost := r.top.Lost(e.Product()*one, b.View.Keyword(e.Posting()))
			if e&index.OwnerNegatives != 0 && (lost && !r.request.ExactCounts || r.blockedOwner(b, e)) {
				continue
			}
			r.candidates++
			if !lost {
				r.offer(b, e, one, kind, level)
			}
		}
	}
}

// offer offers a posting that passed all checks to the best; one is Q for quality 1.
func (r *ranking) offer(b *index.Block, e index.Impact, one uint64, kind search.MatchType, level search.Level) {
	posting := e.Posting()
	r.top.Offer(b.Advertiser(posting), e.Product()*one, b.View.Keyword(posting), hit{
		view: &b.View, posting: uint16(posting), quality: e.Quality() * one, kind: kind, level: level,
	})
}
