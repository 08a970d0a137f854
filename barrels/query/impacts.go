package query

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// impactCache computes the impacts of cached blocks' postings under the rule of
// eligibility, and caches them with the blocks.
type impactCache struct {
	eligibility
	view     *block.View // of the current block
	cached   *index.Block
	number   uint64        // of the current block, unique over all searches
	statuses []blockStatus // by the block's group index
}

// blockStatus is a group's standing, known for one block.
type blockStatus struct {
	block uint64 // number of the block
	groupStatus
}

// use makes b the current block, if it is not.
func (c *impactCache) use(b blockRef) {
	if c.view != b.view {
		c.begin(b)
	}
}

// begin makes b the current block. Views are reused for other bytes, so their address does not
// identify a block.
func (c *impactCache) begin(b blockRef) {
	c.view, c.cached = b.view, b.cached
	c.number++
	if n := b.view.Groups(); n > len(c.statuses) {
		c.statuses = make([]blockStatus, n+n/2)
	}
}

// status returns the status of the g-th group of the current block.
func (c *impactCache) status(g int) *groupStatus {
	s := &c.statuses[g]
	if s.block != c.number {
		s.block = c.number
		c.setStatus(c.view, g, &s.groupStatus, false)
	}
	return &s.groupStatus
}

// impacts returns a cached block's impacts that are valid for this search.
func (c *impactCache) impacts(b *index.Block) *index.Impacts {
	slot, p := &b.Impacts[c.request.Device], c.state.Parents
	j := slot.Load()
	if j != nil && j.TableNumber == c.served.TableNumber && j.View == c.served.View {
		version := j.ParentsVersion.Load()
		if version == p.Version {
			return j
		}
		if version < p.Version && !p.ChangedIn(version, &b.View) {
			j.ParentsVersion.CompareAndSwap(version, p.Version)
			return j
		}
	}
	j = c.compute(b)
	if slot.Swap(j) == nil {
		c.caches.Lists.Grew(j, b)
	}
	return j
}

// compute returns the impacts of a block's postings.
func (c *impactCache) compute(b *index.Block) *index.Impacts {
	c.begin(refOf(b))
	c.context.off = true
	defer func() { c.context.off, c.view = false, nil }() // statuses without context are of no use to a request
	j := index.NewImpacts(b)
	j.TableNumber, j.View = c.served.TableNumber, c.served.View
	j.ParentsVersion.Store(c.state.Parents.Version)
	members := b.Members()
	for i := range b.Signatures() {
		class, ranked := j.Class(b, i), j.Ranked(b, i)
		class.Least = index.Undecided // no candidate yet
		first, _ := b.Range(i)
		for n := range ranked {
			posting := int(members[first+n])
			bid, quality := c.bid(posting), b.View.Quality(posting)
			if quality > index.MaxQuality || bid > index.NoCandidate && quality == 0 {
				bid = index.Undecided
			}
			ranked[n] = index.NewImpact(bid, quality, posting)
			asked, targeted := false, false
			if bid > index.NoMatch && bid < index.Undecided {
				s := c.status(b.View.GroupOf(posting))
				asked, targeted = ranked[n].Product() > 0 && s.owner.HasNegatives, s.targeted
			}
			if asked {
				ranked[n] |= index.OwnerNegatives
			}
			if targeted {
				ranked[n] |= index.Targeted
			}
			class.Add(bid, asked, targeted)
		}
		index.Rank(ranked, b)
	}
	index.CheckImpacts(j, b)
	return j
}

// bid returns the effective bid of a posting of the current block. It is Undecided when it depends
// on the query: on negatives of the group or its campaign, on which form matches, on whether a
// throttled campaign takes part, or on data that cannot be read, which each search must report.
func (c *impactCache) bid(posting int) index.EffectiveBid {
	_, bid, group, _, flags := c.view.Detail(posting)
	if flags&block.Enabled == 0 {
		return index.NoMatch
	}
	s := c.status(group)
	switch {
	case s.damaged:
		return index.Undecided
	case !s.matches():
		return index.NoMatch
	case c.cached.SeveralForms(posting) || s.ownNegatives || s.campaign.HasNegatives || s.throttled:
		return index.Undecided
	}
	effective, _, _ := auction.Rank(bid, s.modifier, 0, 0, 0)
	switch {
	case s.targeted && effective == 0 && bid > 0: // a factor may make it 1
		return index.Undecided
	case block.GroupFactor(c.view.GroupFlags(group)) > 1: // no bound of campaigns holds for it
		return index.Undecided
	case s.verdict(flags, effective, 0) != search.Eligible: // each query has its reserve
		return index.NoCandidate
	case effective >= uint64(index.Undecided)-1:
		return index.Undecided
	}
	return index.EffectiveBid(effective) + 1
}

func (c *impactCache) release() {
	c.view, c.cached = nil, nil
	c.eligibility.release()
}
