package barrels

import (
	"bytes"
	"sort"

	"adshard/auction"
	"adshard/search"
)

// hits looks up what the answer shows of the best. One that cannot be read is
// left out, as damage.
func (f *finder) hits() []search.Hit {
	ranked := f.top.Ranked()
	if len(ranked) == 0 {
		return nil
	}
	hits := make([]search.Hit, 0, len(ranked))
	for i := range ranked {
		r, v := &ranked[i], &ranked[i].Value
		hits = append(hits, search.Hit{
			Keyword: r.Keyword, Group: v.id, Campaign: v.campaign.id, Advertiser: v.advertiser.id,
			Score: r.Score, Quality: v.quality, Type: v.kind, Level: v.level,
			AdvertiserName: v.advertiser.name, CampaignName: v.campaign.name,
		})
		if !f.show(v, &hits[len(hits)-1]) {
			f.bad = append(f.bad, run{v.group.key, v.group.key})
			hits = hits[:len(hits)-1]
		}
	}
	return hits
}

// show fills in the group's name, the ad that this request shows (serving.md
// §5.4) and the keyword's text. Hits share the group's texts with the store;
// nobody changes them.
func (f *finder) show(v *found, h *search.Hit) bool {
	g, ok := f.group(v.group.key)
	if !ok || len(g.ads) == 0 {
		return false
	}
	pick := 0
	if v.campaign.even {
		pick = auction.PickAd(f.request.RequestID, v.id, len(g.ads))
	}
	h.GroupName, h.Ad = g.name, g.ads[pick]
	e, err := f.findKeyword(g, v.group)
	if err != nil {
		return false
	}
	h.KeywordText, err = readText(e.record)
	return err == nil
}

// groupItems is a group read for searches.
type groupItems struct {
	name      string
	ads       []search.Ad // the enabled ones, by rising id
	negatives negatives   // the enabled ones
	record    []byte
	// pages are all of the group's, by rising keyword id, unless partial: they
	// are too large to be kept.
	pages   []page
	partial bool
}

// group reads a group; false: it is not there or damaged.
func (f *finder) group(key uint64) (*groupItems, bool) {
	if g, ok := f.cached.get(key, f.state.number); ok {
		return g, true
	}
	f.key = appendKey(f.key[:0], key, groupRecord)
	if f.items == nil {
		f.items = f.state.snapshot.Prefix(Items)
	}
	if !f.items.Seek(f.key) || keyPart(f.items.Key(), 1) != groupRecord {
		return nil, false
	}
	g, err := readGroup(bytes.Clone(f.items.Value()))
	if err != nil {
		return nil, false
	}
	size := 3 * len(g.record) // its texts and negatives once more
	for f.items.Next() {
		if size += len(f.items.Value()) + cacheOverhead; size > f.cached.most() {
			g.pages, g.partial = nil, true
			return g, true
		}
		p, err := openPage(bytes.Clone(f.items.Value()))
		if err != nil || p.len() == 0 {
			return nil, false
		}
		g.pages = append(g.pages, p)
	}
	if f.items.Err() != nil {
		return nil, false
	}
	f.cached.put(key, f.state.number, g, size)
	return g, true
}

// findKeyword finds a keyword's entry; it is good until the next call.
func (f *finder) findKeyword(g *groupItems, at place) (pageEntry, error) {
	p, err := f.page(g, at)
	if err != nil {
		return pageEntry{}, err
	}
	i := p.find(at.keyword)
	if i < 0 {
		return pageEntry{}, errPage
	}
	return p.entry(i)
}

// page returns the page that a keyword must be on.
func (f *finder) page(g *groupItems, at place) (page, error) {
	if !g.partial {
		n := sort.Search(len(g.pages), func(i int) bool { return g.pages[i].id(0) > at.keyword })
		if n == 0 {
			return page{}, errPage
		}
		return g.pages[n-1], nil
	}
	f.key = appendKey(f.key[:0], at.key, at.keyword)
	if !f.items.SeekBack(f.key) {
		return page{}, errPage
	}
	return openPage(f.items.Value())
}
