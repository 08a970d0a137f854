package query

import (
	"slices"

	"adshard/search"
	"adshard/search/display"
)

// pageHits returns the best hits of each filter with what answers show of them. A keyword appears once for each ad that it shows,
// with the filters in which it does. Hits that cannot be read are left out and recorded as damage.
func (r *ranking) pageHits() []search.Hit {
	var hits []search.Hit
	for i := range r.page.filters {
		ranked := r.page.filters[i].Ranked()
		r.fetchDisplays(ranked)
		for n := range ranked {
			hits = r.appendHit(hits, &ranked[n], i)
		}
	}
	search.SortHits(hits)
	return hits
}

// appendHit adds one of the best hits of a filter.
func (r *ranking) appendHit(hits []search.Hit, of *search.Ranked[hit], filter int) []search.Hit {
	bit, f := uint8(1)<<filter, &r.page.filters[filter]
	if !f.urls { // it shows the same ad in all such filters
		if i := slices.IndexFunc(hits, func(h search.Hit) bool { return h.Keyword == of.Keyword && r.page.plain(h.Filters) }); i >= 0 {
			hits[i].Filters |= bit
			return hits
		}
	}
	var d *cachedDisplay
	if f.urls {
		d = r.compose(of, func(ads []display.Ad) []display.Ad { return allowedBy(&f.blocked, ads) })
	} else {
		d = r.display(of)
	}
	if d == nil {
		r.damagedAt(of.Value.group().key)
		return hits
	}
	var h search.Hit
	r.result(of, d, &h)
	h.Filters = bit
	if i := slices.IndexFunc(hits, func(o search.Hit) bool { return o.Keyword == h.Keyword && o.Ad == h.Ad }); i >= 0 {
		hits[i].Filters |= bit
		return hits
	}
	return append(hits, h)
}

// plain reports whether one of the given filters blocks no domains.
func (p *pageRanking) plain(filters uint8) bool {
	for i := range p.filters {
		if filters>>i&1 != 0 && !p.filters[i].urls {
			return true
		}
	}
	return false
}
