package httpapi

import (
	"context"
	"net/http"
	"time"

	"adshard/backend"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/wire"
	"adshard/quality"
	"adshard/search"
)

// Explain answers GET /v1/explain: what the slaves say of each keyword, with
// the result of the whole ring's auction.
func (c *call) Explain(w http.ResponseWriter, r *http.Request, p *api.ExplainParams) {
	answer, err := c.explain(r.Context(), p)
	if err != nil {
		c.Refuse(w, r, err)
		return
	}
	c.writeJSON(w, answer)
}

// Explanation explains a query of the process itself, after all searches that wait. It is
// not observed.
func (h *Handler) Explanation(ctx context.Context, query string) (*api.ExplainAnswer, error) {
	p := api.NewExplainParams()
	p.Q = query
	c := &call{Handler: h, start: time.Now(), tags: wire.Tags{Priority: wire.Low}}
	c.seen.RequestID = h.NewRequestID()
	return c.explain(ctx, p)
}

func (c *call) explain(ctx context.Context, p *api.ExplainParams) (*api.ExplainAnswer, error) {
	if c.Explainer == nil {
		return nil, Forbidden("explanations show the bids, so they are not on this port: ask the master's admin port, or set explain: public")
	}
	ctx, done, err := c.begin(ctx, p.TimeoutMs)
	if err != nil {
		return nil, err
	}
	defer done()
	req, err := c.request(p.Q, p.Slots, p.Device, p.Variants)
	if err != nil {
		return nil, err
	}
	found, err := c.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	explained, err := c.Explainer.Explain(ctx, req, p.Offset+p.Limit)
	if err != nil {
		return nil, err
	}
	settle(explained.Matches, found.Hits, c.place(req, found))
	return c.explanation(req, found, explained, p), nil
}

func (c *call) explanation(req *search.Request, found *search.Answer, explained *search.Explanation,
	p *api.ExplainParams,
) *api.ExplainAnswer {
	page := explained.Matches[min(p.Offset, len(explained.Matches)):]
	page = page[:min(p.Limit, len(page))]
	a := &api.ExplainAnswer{
		Query: req.Query.Text, Truncated: req.Query.Truncated, Slots: p.Slots, Device: p.Device,
		Total: explained.Total, Offset: p.Offset, Matches: make([]api.ExplainedKeyword, len(page)),
		Coverage: coverage(found), RequestID: req.RequestID,
	}
	for i := range page {
		a.Matches[i] = explainedKeyword(&page[i], req)
	}
	if explained.Width != search.WholeRing() {
		a.Coverage.Complete, a.Coverage.PricesExact = false, false
	}
	if len(explained.Missing) > len(found.Missing) {
		a.Coverage.Missing, a.Coverage.Reasons = missing(explained.Missing)
	}
	a.Coverage.AppliedClock = min(found.AppliedClock, explained.AppliedClock)
	a.TookUs = time.Since(c.start).Microseconds()
	return a
}

func explainedKeyword(m *search.Explained, req *search.Request) api.ExplainedKeyword {
	k := api.ExplainedKeyword{
		KeywordID: m.Keyword, GroupID: m.Group, CampaignID: m.Campaign, AdvertiserID: m.Advertiser,
		Advertiser: m.AdvertiserName, Campaign: m.CampaignName, Group: m.GroupName, Keyword: m.KeywordText,
		MatchType: api.MatchType(m.Type.String()), Variant: api.Variant(m.Level.String()),
		Verdict: api.Verdict(m.Verdict.String()), Reason: reason(m, req), LostTo: m.LostTo,
		Quality: m.Quality, Score: m.Score, Shard: m.Shard, Slice: m.Slice,
		Words: make([]api.WordAgreement, len(m.Words)),
	}
	k.QualityPoints, k.Learned = m.Points, learned(m)
	for i, w := range m.Words {
		k.Words[i] = api.WordAgreement{Keyword: w.Keyword, Query: w.Query, Agreement: api.Variant(w.Level.String())}
	}
	if m.Verdict == search.Won {
		k.Position, k.PriceMicros, k.PriceSetBy = m.Position, &m.Price, m.SetBy
	}
	if m.Verdict == search.BlockedByNegative {
		k.Negative = &api.BlockingNegative{
			Text: m.Negative, MatchType: api.MatchType(m.NegativeType.String()),
			Owner: api.BlockingNegativeOwner(m.NegativeOwner),
		}
	}
	showBid(&k, m)
	return k
}

// showBid fills in what was known of the bid when the verdict fell.
func showBid(k *api.ExplainedKeyword, m *search.Explained) {
	checked := m.Verdict != search.NoBid &&
		(m.Verdict < search.KeywordPaused || m.Verdict >= search.DeviceOff && m.Verdict != search.Throttled || m.Bid > 0)
	if !checked {
		return
	}
	k.BidMicros, k.ModifierPermille, k.EffectiveBidMicros = &m.Bid, &m.Modifier, &m.Effective
	k.BidOf = api.ExplainedKeywordBidOfKeyword
	if m.BidFromGroup {
		k.BidOf = api.ExplainedKeywordBidOfGroup
	}
}

// learned says what a keyword's quality was learned from; nil: it is the given one.
func learned(m *search.Explained) *api.LearnedQuality {
	if m.Learned == 0 {
		return nil
	}
	l := backend.Learned(m.Learned)
	return &api.LearnedQuality{
		GivenQuality: m.Given, Level: api.LearnedQualityLevel(quality.Level(min(l.Level(), uint8(quality.LevelAd))).String()), Impressions: l.Impressions(), Clicks: l.Clicks(),
	}
}
