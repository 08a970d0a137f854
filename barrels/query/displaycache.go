package query

import (
	"slices"
	"sync/atomic"

	"adshard/auction"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
	"adshard/search/display"
)

// cachedDisplay is what answers show of a keyword among the best. The same keywords win again and again, and composing the
// display of one costs as much as deciding on hundreds that lose. A search reads only the first 64-byte line of the
// struct.
type cachedDisplay struct {
	key     uint64        // of its group
	state   uint64        // number of the state that read the group
	parents atomic.Uint64 // version of the parents for which it is known to be valid
	even    *[]display.Ad // the group's ads, filled, for even rotation; nil if the first one is always shown
	// Ids.
	keyword, group, campaign, advertiser uint64

	ad    uint64        // id of the ad that is shown
	hosts atomic.Uint32 // number of the host set of the ads from which it was chosen
	display.Pieces
}

// bytes estimates the size of an entry from above. Keywords of a cached group share most of it.
func (d *cachedDisplay) bytes() int64 {
	if d == nil {
		return 0
	}
	ads := 1
	if d.even != nil {
		ads += len(*d.even)
	}
	return displayOverhead + int64(len(d.Keyword)+ads*len(d.Group))
}

// DisplayCache finds displays by keyword. Each keyword has one slot, which keeps the last display as long as all entries
// together are not too large.
type DisplayCache struct {
	slots []atomic.Pointer[cachedDisplay]
	room  *index.Allowance
	bytes atomic.Int64  // size of all entries
	hand  atomic.Uint64 // the slot that is emptied next
}

const (
	// displayBytes is about the size of an entry with its slot.
	displayBytes = 512
	// displayOverhead is the size of an entry without its pieces.
	displayOverhead = 160
	// maxDisplays bounds the table, which is allocated at the start and read by every garbage collection.
	maxDisplays = 1 << 21
)

// NewDisplayCache returns a cache with a share of the memory, and with at least one slot.
func NewDisplayCache(room *index.Allowance) *DisplayCache {
	n := 1
	for int64(n)*2*displayBytes <= room.Part() && n < maxDisplays {
		n *= 2
	}
	c := &DisplayCache{slots: make([]atomic.Pointer[cachedDisplay], n), room: room}
	room.OnLess(func() bool { c.fit(c.bytes.Load(), nil); return true })
	return c
}

// put stores a display in its slot, and empties other slots until all entries fit. It does not store a display larger than
// a sixteenth of the cache.
func (c *DisplayCache) put(slot *atomic.Pointer[cachedDisplay], d *cachedDisplay) {
	if d.bytes() > c.room.Part()/16 {
		d = nil
	}
	sum := c.bytes.Add(d.bytes() - slot.Swap(d).bytes())
	if !c.room.Fits(sum) {
		c.fit(sum, slot)
		c.room.Missed(d.bytes())
	}
}

// fit empties slots but for one, which may be nil, until all entries fit. sum is their size.
func (c *DisplayCache) fit(sum int64, slot *atomic.Pointer[cachedDisplay]) {
	for n := 0; sum > c.room.Limit() && n < len(c.slots); n++ {
		next := &c.slots[c.hand.Add(1)&uint64(len(c.slots)-1)]
		if next != slot {
			sum = c.bytes.Add(-next.Swap(nil).bytes())
		}
	}
}

func (c *DisplayCache) slot(keyword uint64) *atomic.Pointer[cachedDisplay] {
	return &c.slots[keyword*0x9e3779b97f4a7c15>>20&uint64(len(c.slots)-1)]
}

// Drop drops the cached display of a keyword.
func (c *DisplayCache) Drop(keyword uint64) {
	slot := c.slot(keyword)
	if d := slot.Load(); d != nil && d.keyword == keyword && slot.CompareAndSwap(d, nil) {
		c.bytes.Add(-d.bytes())
	}
}

// Each calls visit for each cached display until visit returns false.
func (c *DisplayCache) Each(visit func(*display.Pieces) bool) {
	for i := range c.slots {
		if d := c.slots[i].Load(); d != nil && !visit(&d.Pieces) {
			return
		}
	}
}

// display returns the display of one of the best hits, or nil if it cannot be read.
func (r *ranking) display(of *search.Ranked[hit]) *cachedDisplay {
	slot := r.caches.Display.slot(of.Keyword)
	d := slot.Load()
	if d == nil || d.keyword != of.Keyword || !r.holds(d) {
		if d = r.compose(of, nil); d != nil {
			r.caches.Display.put(slot, d)
		}
	}
	if d == nil || !r.context.urls || r.undisturbed(d) {
		return d
	}
	return r.compose(of, r.allowed)
}

// undisturbed reports whether no block meets any ad of a display, or the keyword has a URL of its own.
func (r *ranking) undisturbed(d *cachedDisplay) bool {
	number := d.hosts.Load()
	met := r.met(number)
	if met == nil && number != index.HostsOfKeyword && number != index.HostsByKeyword {
		g, ok := r.group(d.key)
		if !ok {
			return false
		}
		number = r.caches.Hosts.Number(g)
		d.hosts.Store(number)
		met = r.met(number)
	}
	return number == index.HostsOfKeyword || met != nil && met.none
}

// holds reports whether a display is valid: its group and the group's parents are unchanged.
func (r *ranking) holds(d *cachedDisplay) bool {
	p := r.state.Parents
	version := d.parents.Load()
	if !r.caches.Groups.Holds(d.key, d.state, r.state.Number) || version > p.Version {
		return false
	}
	if version < p.Version {
		if p.Changed(version, d.campaign, d.advertiser) {
			return false
		}
		d.parents.CompareAndSwap(version, p.Version)
	}
	return true
}

// compose puts together the display of one of the best hits, or returns nil if it cannot be read. allowed returns the ads
// of the group that may be shown; if it is nil, all may. It is not called for a keyword with a URL of its own.
func (r *ranking) compose(of *search.Ranked[hit], allowed func([]display.Ad) []display.Ad) *cachedDisplay {
	in, p := of.Value.group(), r.state.Parents
	owner, ok := p.Advertisers.Get(of.Owner)
	c, ok2 := p.Campaigns.Get(in.campaign)
	g, ok3 := r.group(in.key)
	if !ok || !ok2 || !ok3 || g.Ads.None() {
		return nil
	}
	at := kv.Place{Key: in.key, Keyword: of.Keyword}
	text, ok := r.keywordText(g, at)
	if !ok {
		return nil
	}
	url, ok := r.keywordURL(g, at)
	if !ok {
		return nil
	}
	d := &cachedDisplay{
		key: in.key, state: r.state.Number,
		keyword: of.Keyword, group: in.id, campaign: in.campaign, advertiser: of.Owner,
		Pieces: display.Pieces{Keyword: display.AppendString(nil, text)},
	}
	d.parents.Store(p.Version)
	if !g.Filled && url == "" && allowed == nil {
		shared := piece(r.caches.Groups, in.key, g, owner.Advertiser, c.Campaign)
		d.ad, d.Group, d.even = shared.Ad, shared.Bytes, shared.Even
		return d
	}
	ads := g.Ads.Read()
	if url != "" {
		d.hosts.Store(index.HostsOfKeyword)
	} else if allowed != nil {
		if ads = allowed(ads); len(ads) == 0 {
			return nil
		}
	}
	ads = filled(ads, text, url)
	d.ad = ads[0].ID
	d.Group = slices.Clip(display.AppendAd(display.AppendNames(nil, owner.Name, c.Name, g.Name), &ads[0]))
	d.even = even(ads, c.Campaign)
	return d
}

// even returns the ads from which each request chooses one, or nil if the first is always shown.
func even(ads []display.Ad, c *index.Campaign) *[]display.Ad {
	if !c.RotateEvenly || len(ads) < 2 {
		return nil
	}
	return &ads
}

// filled returns ads with their placeholders filled with a keyword's text, and with the keyword's URL in place of theirs
// if it has one.
func filled(ads []display.Ad, keyword, url string) []display.Ad {
	list := make([]display.Ad, len(ads))
	for i := range ads {
		list[i], _ = ads[i].Filled(keyword)
		if url != "" {
			list[i].FinalURL = url
		}
	}
	return list
}

// piece returns what answers show of all keywords of a group, unless the texts of its ads depend on the keyword. Keywords of a cached group
// share it.
func piece(groups *index.Cache[*index.Group], key uint64, g *index.Group, owner *index.Advertiser, c *index.Campaign) *index.GroupPiece {
	if p := g.Piece.Load(); p != nil && p.Advertiser == owner && p.Campaign == c {
		return p
	}
	ads := g.Ads.Read()
	p := &index.GroupPiece{Advertiser: owner, Campaign: c, Ad: ads[0].ID, Even: even(ads, c)}
	p.Bytes = slices.Clip(display.AppendAd(display.AppendNames(nil, owner.Name, c.Name, g.Name), &ads[0]))
	by := p.Size() - g.Piece.Swap(p).Size()
	groups.Grew(key, by, func(cached *index.Group) bool { return cached == g })
	return p
}

// pick chooses the ad of an evenly rotating group for this request (serving.md §5.4) and returns its id and piece.
func (d *cachedDisplay) pick(r *search.Request) (ad uint64, piece []byte) {
	i := auction.PickAd(r.RequestID, d.group, len(*d.even))
	if i == 0 {
		return d.ad, d.Group
	}
	chosen := &(*d.even)[i]
	return chosen.ID, display.AppendAd(slices.Clip(display.Names(d.Group)), chosen)
}
