package barrels

import (
	"sync/atomic"

	"adshard/auction"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// shown is what answers show of a keyword that was among the best. The same
// ones win again and again, and putting together what is shown of one costs as
// much as deciding on hundreds that lose. What a search reads of one is its first
// line of 64 bytes.
type shown struct {
	key     uint64        // of its group
	state   uint64        // number of the state that read the group
	parents atomic.Uint64 // version of the parents for which it is known to hold
	even    *index.Group  // whose ads are shown evenly; nil: the first one is shown
	// ids
	keyword, group, campaign, advertiser uint64

	search.Shown
}

// shownCache finds them by keyword; each has one place, where the last one
// stays.
type shownCache struct{ slots []atomic.Pointer[shown] }

const (
	// shownBytes is about what one takes, its slot included.
	shownBytes = 512
	// shownMost bounds what they all may take, and with it the table, which is
	// there from the beginning and which every collection of garbage reads.
	shownMost = 1 << 30
)

func newShownCache(bytes uint64) *shownCache {
	n := 1
	for uint64(n)*2*shownBytes <= min(bytes, shownMost) {
		n *= 2
	}
	return &shownCache{make([]atomic.Pointer[shown], n)}
}

func (c *shownCache) slot(keyword uint64) *atomic.Pointer[shown] {
	return &c.slots[keyword*0x9e3779b97f4a7c15>>20&uint64(len(c.slots)-1)]
}

// touch fetches what show will need of all, so that memory is waited for once and
// not hit by hit.
func (f *finder) touch(ranked []search.Ranked[found]) {
	for i := range ranked {
		if f.shown.slot(ranked[i].Keyword).Load() == nil {
			f.touched++
		}
	}
	for i := range ranked {
		if s := f.shown.slot(ranked[i].Keyword).Load(); s != nil {
			f.touched |= f.cached.ChangedAt(s.key)
		}
	}
}

// show completes the hit of one of the best; false: what is to be shown cannot
// be read.
func (f *finder) show(r *search.Ranked[found], h *search.Hit) bool {
	slot := f.shown.slot(r.Keyword)
	s := slot.Load()
	if s == nil || s.keyword != r.Keyword || !f.holds(s) {
		if s = f.lookUp(r); s == nil {
			return false
		}
		slot.Store(s)
	}
	v := &r.Value
	*h = search.Hit{
		Keyword: s.keyword, Group: s.group, Campaign: s.campaign, Advertiser: s.advertiser,
		Score: r.Score, Quality: v.quality, Type: v.kind, Level: v.level, Shown: &s.Shown,
	}
	if s.even != nil {
		picked := s.Shown
		picked.Ad = f.pickAd(s.even, s.group)
		h.Shown = &picked
	}
	return true
}

// pickAd chooses the ad of an evenly rotating group for this request (serving.md
// §5.4).
func (f *finder) pickAd(g *index.Group, id uint64) search.Ad {
	return g.Ads[auction.PickAd(f.request.RequestID, id, len(g.Ads))]
}

// holds tells whether the group and its parents are as they were.
func (f *finder) holds(s *shown) bool {
	p := f.state.Parents
	known := s.parents.Load()
	if !f.cached.Holds(s.key, s.state, f.state.Number) || known > p.Version {
		return false
	}
	if known < p.Version {
		if p.ChangedSince(known, func(c *index.ParentChange) bool {
			return c.Campaign == s.campaign || c.Advertiser == s.advertiser
		}) {
			return false
		}
		s.parents.CompareAndSwap(known, p.Version)
	}
	return true
}

// lookUp puts together what is shown of one of the best; nil: it cannot be read.
func (f *finder) lookUp(r *search.Ranked[found]) *shown {
	in, p := r.Value.group(), f.state.Parents
	owner, ok := p.Advertisers.Get(r.Owner)
	c, ok2 := p.Campaigns.Get(in.campaign)
	g, ok3 := f.items(in.key)
	if !ok || !ok2 || !ok3 || len(g.Ads) == 0 {
		return nil
	}
	text, ok := f.keywordText(g, kv.Place{Key: in.key, Keyword: r.Keyword})
	if !ok {
		return nil
	}
	s := &shown{
		key: in.key, state: f.state.Number,
		keyword: r.Keyword, group: in.id, campaign: in.campaign, advertiser: r.Owner,
		Shown: search.Shown{
			AdvertiserName: owner.Name, CampaignName: c.Name, GroupName: g.Name, KeywordText: text, Ad: g.Ads[0],
		},
	}
	s.parents.Store(p.Version)
	if c.RotateEvenly && len(g.Ads) > 1 {
		s.even = g
	}
	return s
}
