package barrels

import (
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
// §5.4) and the keyword's text.
func (f *finder) show(v *found, h *search.Hit) bool {
	record, ok := f.record(v.group.key)
	if !ok {
		return false
	}
	s, err := readShown(record, f.ads)
	if f.ads = s.ads; err != nil || len(s.ads) == 0 {
		return false
	}
	pick := 0
	if v.campaign.even {
		pick = auction.PickAd(f.request.RequestID, v.id, len(s.ads))
	}
	if h.Ad, err = readAd(s.ads[pick]); err != nil {
		return false
	}
	h.GroupName = string(s.name)
	e, err := f.findKeyword(v.group)
	if err != nil {
		return false
	}
	h.KeywordText, err = readText(e.record)
	return err == nil
}

// record reads a group's record; it is good until the items' iterator moves.
func (f *finder) record(key uint64) ([]byte, bool) {
	if f.items == nil {
		f.items = f.snapshot.Prefix(Items)
	}
	f.key = appendKey(f.key[:0], key, groupRecord)
	if !f.items.Seek(f.key) || keyPart(f.items.Key(), 1) != groupRecord {
		return nil, false
	}
	return f.items.Value(), true
}

// findKeyword finds a keyword's entry behind its group's record, which was
// read last: mostly on the group's first page.
func (f *finder) findKeyword(at place) (pageEntry, error) {
	if !f.items.Next() {
		return pageEntry{}, errPage
	}
	if e, err := onPage(f.items.Value(), at.keyword); err == nil {
		return e, nil
	}
	f.key = appendKey(f.key[:0], at.key, at.keyword)
	if !f.items.SeekBack(f.key) {
		return pageEntry{}, errPage
	}
	return onPage(f.items.Value(), at.keyword)
}

func onPage(value []byte, keyword uint64) (pageEntry, error) {
	p, err := openPage(value)
	if err != nil {
		return pageEntry{}, err
	}
	i := p.find(keyword)
	if i < 0 {
		return pageEntry{}, errPage
	}
	return p.entry(i)
}
