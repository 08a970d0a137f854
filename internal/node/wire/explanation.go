package wire

import (
	"adshard/schema/pb"
	"adshard/search"
)

// FromExplain returns the message of a request to explain.
func FromExplain(r *search.Request, limit int) *pb.ExplainRequest {
	w := &r.Wanted
	return &pb.ExplainRequest{Request: FromRequest(r), Limit: uint32(max(limit, 0)),
		Keyword: w.Keyword, Advertiser: w.Advertiser, AdvertiserName: w.AdvertiserName}
}

// ToExplain reads a request to explain. Errors: fault.Invalid.
func ToExplain(m *pb.ExplainRequest) (*search.Request, error) {
	r, err := ToRequest(m.GetRequest())
	if err == nil {
		r.Wanted = search.Wanted{Keyword: m.GetKeyword(), Advertiser: m.GetAdvertiser(), AdvertiserName: m.GetAdvertiserName()}
	}
	return r, err
}

// FromExplanation returns the message of a slave's explanation. It leaves out what only the auction
// over the whole ring can know (Position, Price, SetBy, LostTo), and the shard's name, which the
// master knows.
func FromExplanation(e *search.Explanation) *pb.ExplainResponse {
	m := &pb.ExplainResponse{
		Matches:      make([]*pb.Explained, len(e.Matches)),
		Total:        e.Total,
		WidthHi:      e.Width.Hi,
		WidthLo:      e.Width.Lo,
		View:         e.View,
		AppliedClock: e.AppliedClock,
		Shard:        uint64(e.Shard),
		Scorer:       fromScorer(e.Scorer),
	}
	if e.Counts != [search.Verdicts]uint64{} {
		m.Counts = e.Counts[:]
	}
	for i := range e.Matches {
		m.Matches[i] = fromExplained(&e.Matches[i])
	}
	return m
}

func fromExplained(e *search.Explained) *pb.Explained {
	m := &pb.Explained{
		Hit:           fromHit(&e.Hit),
		Verdict:       uint32(e.Verdict),
		Words:         make([]*pb.Agreement, len(e.Words)),
		Bid:           e.Bid,
		Modifier:      e.Modifier,
		Effective:     e.Effective,
		BidFromGroup:  e.BidFromGroup,
		Negative:      e.Negative,
		NegativeOwner: e.NegativeOwner,
		NegativeType:  pb.MatchType(e.NegativeType),
		Slice:         e.Slice,
		Withheld:      e.Withheld,
		Points:        uint32(e.Points),
		Given:         uint32(e.Given),
		Learned:       e.Learned,
		Mismatch:      uint32(e.Mismatch),
		MismatchWords: e.MismatchWords,
		Defaults:      e.Defaults,
		Held:          e.Held,
		Context:       fromOutcome(e.Context),
		Device:        fromDevice(e.Device),
		Clamped:       e.Clamped,
		Scored:        fromScored(e.Scored),
	}
	m.Hit.AdvertiserName, m.Hit.CampaignName = e.AdvertiserName, e.CampaignName
	m.Hit.GroupName, m.Hit.KeywordText = e.GroupName, e.KeywordText
	for i, w := range e.Words {
		m.Words[i] = &pb.Agreement{Keyword: w.Keyword, Query: w.Query, Level: uint32(w.Level)}
	}
	return m
}

// ToExplanation reads the explanation of the shard with a name.
func ToExplanation(m *pb.ExplainResponse, shard string) *search.Explanation {
	e := &search.Explanation{
		Total:        m.GetTotal(),
		Width:        search.Width{Hi: m.GetWidthHi(), Lo: m.GetWidthLo()},
		View:         m.GetView(),
		Shard:        search.ShardID(m.GetShard()),
		AppliedClock: m.GetAppliedClock(),
	}
	copy(e.Counts[:], m.GetCounts())
	copy(e.Scorer[:], m.GetScorer())
	if len(m.GetMatches()) > 0 {
		e.Matches = make([]search.Explained, len(m.Matches))
	}
	for i, x := range m.GetMatches() {
		toExplained(x, shard, &e.Matches[i])
	}
	return e
}

func toExplained(m *pb.Explained, shard string, e *search.Explained) {
	*e = search.Explained{
		Verdict:       search.Verdict(min(m.GetVerdict(), uint32(search.Verdicts-1))),
		Bid:           m.GetBid(),
		Modifier:      m.GetModifier(),
		Effective:     m.GetEffective(),
		BidFromGroup:  m.GetBidFromGroup(),
		Negative:      m.GetNegative(),
		NegativeOwner: m.GetNegativeOwner(),
		NegativeType:  toType(m.GetNegativeType()),
		Shard:         shard,
		Slice:         m.GetSlice(),
		Withheld:      m.GetWithheld(),
		Points:        uint8(m.GetPoints()),
		Given:         uint8(m.GetGiven()),
		Learned:       m.GetLearned(),
		Mismatch:      search.Mismatch(min(m.GetMismatch(), uint32(search.Arrangement))),
		MismatchWords: m.GetMismatchWords(),
		Defaults:      m.GetDefaults(),
		Held:          m.GetHeld(),
		Context:       toOutcome(m.GetContext()),
		Device:        toDevice(m.GetDevice()),
		Clamped:       m.GetClamped(),
		Scored:        toScored(m.GetScored()),
	}
	h := m.GetHit()
	toHit(h, &e.Hit)
	e.AdvertiserName, e.CampaignName = h.GetAdvertiserName(), h.GetCampaignName()
	e.GroupName, e.KeywordText = h.GetGroupName(), h.GetKeywordText()
	for _, w := range m.GetWords() {
		e.Words = append(e.Words, search.Agreement{Keyword: w.GetKeyword(), Query: w.GetQuery(), Level: toLevel(w.GetLevel())})
	}
}
