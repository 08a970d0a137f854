package wire

import (
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/shown"
)

// FromAnswer makes the message of a slave's answer.
func FromAnswer(a *search.Answer) *pb.SearchResponse {
	m := &pb.SearchResponse{
		Hits:          make([]*pb.Hit, len(a.Hits)),
		Matched:       a.Matched,
		Candidates:    a.Candidates,
		CountsExact:   a.CountsExact,
		WidthHi:       a.Width.Hi,
		WidthLo:       a.Width.Lo,
		View:          a.View,
		AppliedClock:  a.AppliedClock,
		LagMicros:     uint64(max(a.Lag, 0).Microseconds()),
		Examined:      a.Work.Examined,
		BlocksRead:    a.Work.BlocksRead,
		BlocksSkipped: a.Work.BlocksSkipped,
		BlocksBad:     a.Work.BlocksBad,
		Shard:         uint64(a.Shard),
		Lacking:       a.Lacking,
	}
	for i := range a.Hits {
		h := &a.Hits[i]
		m.Hits[i] = fromHit(h)
		m.Hits[i].AdId, m.Hits[i].Text, m.Hits[i].Shown = h.Ad, h.Shown.Keyword, h.Shown.Group
	}
	return m
}

// ToAnswer reads a slave's answer; it is that of one shard.
func ToAnswer(m *pb.SearchResponse) *search.Answer {
	a := &search.Answer{
		Matched:      m.GetMatched(),
		Candidates:   m.GetCandidates(),
		CountsExact:  m.GetCountsExact(),
		Width:        search.Width{Hi: m.GetWidthHi(), Lo: m.GetWidthLo()},
		View:         m.GetView(),
		Shard:        search.ShardID(m.GetShard()),
		AppliedClock: m.GetAppliedClock(),
		Lag:          lag(m.GetLagMicros()),
		Work: search.Work{Examined: m.GetExamined(), BlocksRead: m.GetBlocksRead(),
			BlocksSkipped: m.GetBlocksSkipped(), BlocksBad: m.GetBlocksBad()},
		Lacking:  m.GetLacking(),
		Shards:   1,
		Answered: 1,
	}
	if len(m.GetHits()) > 0 {
		a.Hits = make([]search.Hit, len(m.Hits))
	}
	for i, h := range m.GetHits() {
		toHit(h, &a.Hits[i])
	}
	return a
}

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

// toHit reads a hit; a match type or level that is not known becomes the worst
// one, so that no table is indexed outside of its bounds.
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
		Shown:      shown.Pieces{Keyword: m.GetText(), Group: m.GetShown()},
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
