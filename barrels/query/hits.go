package query

import "adshard/search"

// hits returns the best hits with what answers show of them. It leaves out hits that cannot be read
// and records the damage.
func (r *ranking) hits() []search.Hit {
	if r.request.Page != nil {
		return r.pageHits()
	}
	ranked := r.top.Ranked()
	if r.page != nil {
		ranked = r.page.filters[0].Ranked()
	}
	if len(ranked) == 0 {
		return nil
	}
	r.fetchDisplays(ranked)
	hits := make([]search.Hit, len(ranked))
	n := 0
	for i := range ranked {
		if r.show(&ranked[i], &hits[n]) {
			n++
			continue
		}
		r.damagedAt(ranked[i].Value.group().key)
	}
	return hits[:n]
}

// fetchDisplays prefetches what show reads of each hit, so that the memory accesses overlap.
func (r *ranking) fetchDisplays(ranked []search.Ranked[hit]) {
	for i := range ranked {
		if r.caches.Display.slot(ranked[i].Keyword).Load() == nil {
			r.touched++
		}
	}
	for i := range ranked {
		if d := r.caches.Display.slot(ranked[i].Keyword).Load(); d != nil {
			r.touched |= r.caches.Groups.ChangedAt(d.key)
		}
	}
}

// show completes one of the best hits. It returns false if the display cannot be read.
func (r *ranking) show(of *search.Ranked[hit], h *search.Hit) bool {
	d := r.display(of)
	if d == nil {
		return false
	}
	r.result(of, d, h)
	return true
}

// result fills in the hit of an answer.
func (r *ranking) result(of *search.Ranked[hit], d *cachedDisplay, h *search.Hit) {
	v := &of.Value
	*h = search.Hit{
		Keyword: d.keyword, Group: d.group, Campaign: d.campaign, Advertiser: d.advertiser,
		Score: of.Score, Quality: v.quality, Type: v.kind, Level: v.level, Ad: d.ad, Display: d.Pieces,
	}
	if d.even != nil {
		h.Ad, h.Display.Group = d.pick(r.request)
	}
}
