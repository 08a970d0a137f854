package barrels

import (
	"sync/atomic"

	"adshard/auction"
	"adshard/search"
)

// shown is what answers show of a keyword that was among the best. The same
// ones win again and again, and putting together what is shown of one costs as
// much as deciding on hundreds that lose.
type shown struct {
	hit     search.Hit    // but for what hangs on the query
	key     uint64        // of its group
	state   uint64        // number of the state that read the group
	parents atomic.Uint64 // version of the parents for which it is known to hold
	even    *groupItems   // whose ads are shown evenly; nil: the first one is shown
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
			f.touched |= s.key | s.hit.Keyword | s.hit.Ad.ID | uint64(len(s.hit.KeywordText)) | uint64(len(s.hit.Ad.FinalURL))
		}
	}
}

// show completes the hit of one of the best; false: what is to be shown cannot
// be read.
func (f *finder) show(r *search.Ranked[found], h *search.Hit) bool {
	slot := f.shown.slot(r.Keyword)
	s := slot.Load()
	if s == nil || s.hit.Keyword != r.Keyword || !f.holds(s) {
		if s = f.lookUp(r); s == nil {
			return false
		}
		slot.Store(s)
	}
	*h = s.hit
	v := &r.Value
	h.Score, h.Quality, h.Type, h.Level = r.Score, v.quality, v.kind, v.level
	if s.even != nil {
		h.Ad = f.pickAd(s.even, h.Group)
	}
	return true
}

// pickAd chooses the ad of an evenly rotating group for this request (serving.md
// §5.4).
func (f *finder) pickAd(g *groupItems, id uint64) search.Ad {
	return g.ads[auction.PickAd(f.request.RequestID, id, len(g.ads))]
}

// holds tells whether the group and its parents are as they were.
func (f *finder) holds(s *shown) bool {
	p := f.state.parents
	known := s.parents.Load()
	if !f.cached.holds(s.key, s.state, f.state.number) || known > p.version {
		return false
	}
	if known < p.version {
		if p.touched(known, func(c *parentChange) bool {
			return c.campaign == s.hit.Campaign || c.advertiser == s.hit.Advertiser
		}) {
			return false
		}
		s.parents.CompareAndSwap(known, p.version)
	}
	return true
}

// lookUp puts together what is shown of one of the best; nil: it cannot be read.
func (f *finder) lookUp(r *search.Ranked[found]) *shown {
	v, p := &r.Value, f.state.parents
	v.resolve()
	owner, ok := p.advertisers.get(r.Owner)
	c, ok2 := p.campaigns.get(v.campaign)
	g, ok3 := f.items(v.key)
	if !ok || !ok2 || !ok3 || len(g.ads) == 0 {
		return nil
	}
	text, ok := f.keywordText(g, place{v.key, r.Keyword})
	if !ok {
		return nil
	}
	s := &shown{key: v.key, state: f.state.number, hit: search.Hit{
		Keyword: r.Keyword, Group: v.id, Campaign: v.campaign, Advertiser: r.Owner,
		AdvertiserName: owner.name, CampaignName: c.name, GroupName: g.name, KeywordText: text, Ad: g.ads[0],
	}}
	s.parents.Store(p.version)
	if c.even && len(g.ads) > 1 {
		s.even = g
	}
	return s
}
