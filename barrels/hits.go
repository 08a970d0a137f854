package barrels

import (
	"adshard/auction"
	"adshard/schema/pb"
	"adshard/search"

	"google.golang.org/protobuf/proto"
)

// hits looks up what the answer shows of the best. One that cannot be read is
// left out, as damage.
func (f *finder) hits() ([]search.Hit, error) {
	ranked := f.top.Ranked()
	if len(ranked) == 0 {
		return nil, nil
	}
	it := f.snapshot.Prefix(Keywords)
	defer it.Close()
	hits := make([]search.Hit, 0, len(ranked))
	for i := range ranked {
		r, v := &ranked[i], &ranked[i].Value
		hits = append(hits, search.Hit{
			Keyword: r.Keyword, Group: v.id, Campaign: v.campaign.id, Advertiser: v.advertiser.id,
			Score: r.Score, Quality: v.quality, Type: v.kind, Level: v.level,
			AdvertiserName: v.advertiser.name, CampaignName: v.campaign.name,
		})
		h := &hits[len(hits)-1]
		if !f.text(it, v.group, h) || !f.ad(v, h) {
			hits = hits[:len(hits)-1]
		}
	}
	return hits, nil
}

// text fills in the keyword's text.
func (f *finder) text(it Iterator, at place, h *search.Hit) bool {
	e, err := findKeyword(it, f.key[:0], at)
	if err == nil {
		h.KeywordText, err = keywordText(e.record)
	}
	if err != nil {
		f.bad = append(f.bad, run{at.key, at.key})
	}
	return err == nil
}

// findKeyword finds a keyword's entry; it is good until the iterator moves.
func findKeyword(it Iterator, scratch []byte, at place) (pageEntry, error) {
	if !it.SeekBack(appendKey(scratch, at.key, at.keyword)) {
		return pageEntry{}, errPage
	}
	p, err := openPage(it.Value())
	if err != nil {
		return pageEntry{}, err
	}
	i := p.find(at.keyword)
	if i < 0 {
		return pageEntry{}, errPage
	}
	return p.entry(i)
}

// ad fills in the group's name and the ad that this request shows
// (serving.md §5.4).
func (f *finder) ad(v *found, h *search.Hit) bool {
	record, ok := f.record(v.group.key)
	if !ok {
		return false
	}
	s, err := groupShown(record, nil)
	if err != nil || len(s.ads) == 0 {
		f.bad = append(f.bad, run{v.group.key, v.group.key})
		return false
	}
	pick := 0
	if v.campaign.even {
		pick = auction.PickAd(f.request.RequestID, v.id, len(s.ads))
	}
	var m pb.Ad
	if err := proto.Unmarshal(s.ads[pick], &m); err != nil {
		f.bad = append(f.bad, run{v.group.key, v.group.key})
		return false
	}
	h.GroupName = s.name
	h.Ad = search.Ad{
		ID: m.Id, Headlines: m.Headlines, Descriptions: m.Descriptions,
		Path1: m.Path1, Path2: m.Path2, FinalURL: m.FinalUrl,
	}
	return true
}
