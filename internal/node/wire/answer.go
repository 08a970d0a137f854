package wire

import (
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
)

func fromHit(h *search.Hit) *pb.Hit {
	return &pb.Hit{
		Keyword:    h.Keyword,
		Group:      h.Group,
		Campaign:   h.Campaign,
		Advertiser: h.Advertiser,
		Score:      h.Score,
		Quality:    h.Quality,
		Type:       pb.MatchType(h.Type),
		Level:      uint32(h.Level),
	}
}

// toHit reads a hit. A match type or level that is not known is read as the worst one, so that no
// table is indexed out of bounds.
func toHit(m *pb.Hit, h *search.Hit) {
	*h = search.Hit{
		Keyword:    m.GetKeyword(),
		Group:      m.GetGroup(),
		Campaign:   m.GetCampaign(),
		Advertiser: m.GetAdvertiser(),
		Score:      m.GetScore(),
		Quality:    m.GetQuality(),
		Type:       toType(m.GetType()),
		Level:      toLevel(m.GetLevel()),
		Ad:         m.GetAdId(),
		Filters:    uint8(m.GetFilters()),
		Display:    display.Pieces{Keyword: m.GetText(), Group: m.GetShown()},
	}
}

func toType(t pb.MatchType) search.MatchType {
	if t < 0 || t >= search.MatchTypes {
		return search.Broad
	}
	return search.MatchType(t)
}

func toLevel(l uint32) search.Level {
	return search.Level(min(l, uint32(search.NoLevel)))
}
