package query

import (
	"slices"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
	"adshard/targeting"
)

// impactCache computes the impacts of cached blocks' postings under the rule of eligibility, and
// caches them with the blocks.
type impactCache struct {
	eligibility
	view     *block.View // of the current block
	cached   *index.Block
	number   uint64        // number of the current block, unique over all searches
	statuses []blockStatus // by the block's group index
	profiles []index.ProfileRef
	of       []uint8 // index of its profile, by the block's group index
}

// blockStatus is the status of a group, valid for one block.
type blockStatus struct {
	block uint64 // number of the block
	groupStatus
}

// use makes b the current block unless it is already.
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

// impacts returns a cached block's impacts, which are valid for this search.
func (c *impactCache) impacts(b *index.Block) *index.Impacts {
	slot, p := &b.Impacts[c.request.Device], c.state.Parents
	j := slot.Load()
	if j != nil && j.Serves(c.served.Number) {
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
	c.caches.Lists.Grew(slot.Swap(j), j, b)
	return j
}

// compute returns the impacts of a block's postings.
func (c *impactCache) compute(b *index.Block) *index.Impacts {
	c.begin(refOf(b))
	c.context.off = true
	defer func() { c.context.off, c.view = false, nil }() // statuses without context are of no use to a request
	c.findProfiles()
	j := index.NewImpacts(b, c.profiles)
	j.SetServed(c.served.Number)
	j.Reach = c.state.Parents.Reach(&b.View, b.View.Bound(c.request.Device), c.request.Device)
	j.ParentsVersion.Store(c.state.Parents.Version)
	members := b.Members()
	for i := range b.Signatures() {
		class, ranked := j.Class(b, i), j.Ranked(b, i)
		class.Begin()
		first, _ := b.Range(i)
		for n := range ranked {
			ranked[n] = c.impact(class, int(members[first+n]))
		}
		index.Rank(ranked, b)
	}
	index.CheckImpacts(j, b)
	return j
}

// impact returns the impact of a posting of the current block, and counts it in its class.
func (c *impactCache) impact(class *index.ClassImpact, posting int) index.Impact {
	bid, quality, group := c.bid(posting), c.view.Quality(posting), c.view.GroupOf(posting)
	if quality > index.MaxQuality || bid > index.NoCandidate && quality == 0 {
		bid = index.Undecided
	}
	e := index.NewImpact(bid, quality, posting)
	s, profile := c.status(group), c.of[group]
	if bid == index.NoMatch || bid == index.Undecided {
		class.Add(bid, false, 0, 0)
		return e.Of(profile)
	}
	asked := e.Product() > 0 && s.owner.HasNegatives
	if asked {
		e |= index.OwnerNegatives
	}
	if s.modifier != targeting.Default {
		e |= index.Modified
	}
	class.Add(bid, asked, profile, c.profiles[profile])
	return e.Of(profile)
}

// findProfiles finds the profiles of the current block's groups.
func (c *impactCache) findProfiles() {
	n := c.view.Groups()
	c.profiles, c.of = c.profiles[:0], slices.Grow(c.of[:0], n)[:n]
	for g := range n {
		s := c.status(g)
		if c.of[g] = index.NoProfile; !s.matches() {
			continue
		}
		ref := s.campaign.ProfileRef()
		at := slices.Index(c.profiles, ref)
		if at < 0 {
			at = len(c.profiles)
			c.profiles = append(c.profiles, ref)
		}
		c.of[g] = uint8(at)
	}
}

// bid returns the effective bid of a posting of the current block. It is Undecided if it depends on
// the query: on negatives of the group or its campaign, on which form matches, on whether a
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
	case s.targeted && effective == 0 && bid > 0: // a factor may raise it to 1
		return index.Undecided
	case block.GroupFactor(c.view.GroupFlags(group)) > 0: // the group has its own targeting
		return index.Undecided
	case s.verdict(flags, effective, 0) != search.Eligible: // each query has its own reserve
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
