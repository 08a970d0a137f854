package wire

import (
	"adshard/schema/pb"
	"adshard/search"
)

// fromAnswer makes the message of a slave's answer, field by field: what AppendAnswer is held
// against.
func fromAnswer(a *search.Answer) *pb.SearchResponse {
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
		Lacking:       a.WhyIncomplete,
		Filtered:      a.Filtered,
		Scorer:        fromScorer(a.Scorer),
	}
	for i := range a.Hits {
		h := &a.Hits[i]
		m.Hits[i] = fromHit(h)
		m.Hits[i].Filters = uint32(h.Filters)
		m.Hits[i].AdId, m.Hits[i].Text, m.Hits[i].Shown = h.Ad, h.Display.Keyword, h.Display.Group
	}
	return m
}

// toAnswer is the same for ParseAnswer.
func toAnswer(m *pb.SearchResponse) *search.Answer {
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
		WhyIncomplete: m.GetLacking(),
		Filtered:      m.GetFiltered(),
		Shards:        1,
		Answered:      1,
	}
	copy(a.Scorer[:], m.GetScorer())
	if len(m.GetHits()) > 0 {
		a.Hits = make([]search.Hit, len(m.Hits))
	}
	for i, h := range m.GetHits() {
		toHit(h, &a.Hits[i])
	}
	return a
}
