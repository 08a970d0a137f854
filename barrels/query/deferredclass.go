package query

import (
	"adshard/barrels/index"
	"adshard/search"
)

// deferredClass is a class, all of it counted, that may have some of the best.
type deferredClass struct {
	block  *index.Block
	ranked []index.Impact
	most   uint64 // its highest score
	one    uint64 // Q for quality 1
	kind   search.MatchType
	level  search.Level
}

const (
	// maxDeferred is how many classes are deferred at a time.
	maxDeferred = 1024
	// firstDeferred are looked at before all others.
	firstDeferred = 8
)

// later defers a class.
func (r *ranking) later(c deferredClass) {
	if len(r.deferred) == maxDeferred {
		r.settle()
	}
	r.deferred = append(r.deferred, c)
}

// settle looks at the deferred classes, those with the highest scores first: then
// few of the others have to be looked at.
func (r *ranking) settle() {
	rest := r.deferred
	r.fetchMembers(rest)
	for n := 0; n < firstDeferred && len(rest) > 0; n++ {
		first := 0
		for i := range rest {
			if rest[i].most > rest[first].most {
				first = i
			}
		}
		if rest[first].most < r.top.Threshold() {
			rest = nil
			break
		}
		r.best(&rest[first])
		rest[first] = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
	for i := range rest {
		if rest[i].most >= r.top.Threshold() {
			r.best(&rest[i])
		}
	}
	clear(r.deferred)
	r.deferred = r.deferred[:0]
}

// fetchMembers fetches the best members of the first deferred classes, so that
// memory is waited for once.
func (r *ranking) fetchMembers(list []deferredClass) {
	const best = 4
	for i := range list[:min(len(list), firstDeferred)] {
		c := &list[i]
		members := c.block.Members()
		for _, e := range c.ranked[:min(len(c.ranked), best)] {
			r.touched |= members[e.Member()].Advertiser
		}
	}
}

// best offers those members of a class that may be among the best: one of each
// advertiser at most.
func (r *ranking) best(c *deferredClass) {
	members := c.block.Members()
	for _, e := range c.ranked {
		score, m := e.Product()*c.one, &members[e.Member()]
		if score == 0 || e&index.Dominated != 0 || r.top.Lost(score, m.Keyword) {
			return
		}
		r.offer(c.block, m, e.Quality()*c.one, score, c.kind, c.level)
	}
}
