package searchapi

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"adshard/auction"
	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/places"
	"adshard/quality"
	"adshard/search"
)

// Explain answers GET /v1/explain: what the slaves say about each keyword, with the result of the auction over the whole ring.
func (c *call) Explain(w http.ResponseWriter, r *http.Request, p *api.ExplainParams) {
	answer, err := c.explain(r.Context(), p)
	if err != nil {
		c.Refuse(w, r, err)
		return
	}
	c.writeJSON(w, answer)
}

// Explanation explains a query for the process itself, with low priority. `of` is the context in the form of Observation; if it has
// placements, the first one is explained. The call is not observed.
func (h *Handler) Explanation(ctx context.Context, query, of string) (*api.ExplainAnswer, error) {
	p := api.NewExplainParams()
	asked := url.Values{"q": {query}}.Encode()
	if of != "" {
		asked += "&" + of
	}
	if err := api.FromQuery(p, asked); err != nil {
		return nil, err
	}
	c := &call{Handler: h, start: time.Now(), tags: search.Tags{Low: true}}
	c.seen.RequestID = h.NewRequestID()
	return c.explain(ctx, p)
}

func (c *call) explain(ctx context.Context, p *api.ExplainParams) (*api.ExplainAnswer, error) {
	if c.Explainer == nil {
		return nil, httpapi.Forbidden("explanations show the bids, so they are not on this port: ask the master's admin port, or set explain: public")
	}
	ctx, done, err := c.begin(ctx, p.TimeoutMs)
	if err != nil {
		return nil, err
	}
	defer done()
	req, err := c.request(ctx, p.Q, p.Slots, p.Device, p.Variants, explainContext(p))
	if err != nil {
		return nil, err
	}
	page, err := c.explainedPlacement(req, p)
	if err != nil {
		return nil, err
	}
	c.timed = true
	began := time.Now()
	req, found, err := c.askByLists(ctx, req)
	if err != nil {
		return nil, err
	}
	timing := c.timing(began)
	req.Timing = nil // later calls are not timed
	e := explaining{call: c, p: p, req: req, found: found, page: page}
	began = time.Now()
	e.auction()
	timing.AuctionUs = time.Since(began).Microseconds()
	explained, err := e.explained(ctx)
	if err != nil {
		return nil, err
	}
	a := e.answer(explained)
	a.Timing = timing
	return a, nil
}

// explaining is the state of an explanation.
type explaining struct {
	*call
	p      *api.ExplainParams
	req    *search.Request // if there is a page, the request that the explained placement makes
	found  *search.Answer
	page   *explainedPlacement // nil if there are no placements
	placed []auction.Placement // the winners, if there is no page
	notes  map[uint64]string   // replace the reasons, by keyword
}

// auction runs the auction.
func (e *explaining) auction() {
	if e.page == nil {
		e.placed = e.place(e.req, e.found)
		return
	}
	e.page.fill(e.found)
	e.req = e.page.alone(e.page.at, e.req)
}

// settle gives each match its verdict from the auction.
func (e *explaining) settle(matches []search.Explained) {
	if e.page != nil {
		e.notes = e.page.settle(matches, e.found.Hits)
		return
	}
	settle(matches, e.found.Hits, e.placed)
	toWin(matches, e.found.Hits, e.req)
}

// timing says where the time of a search went. `began` is when the shards were first asked.
func (c *call) timing(began time.Time) api.Timing {
	t := api.Timing{ExpandUs: c.seen.Expand.Microseconds(), SearchUs: c.seen.Search.Microseconds(), Calls: []api.TimedCall{}}
	for _, p := range c.seen.Timing.Parts() {
		timed := api.TimedCall{Shard: p.Name, Replica: p.Replica, BeganUs: max(0, p.Began.Sub(began).Microseconds()), TookUs: p.Took.Microseconds()}
		if p.Err != nil {
			timed.Error = fault.KindOf(p.Err).String()
		}
		t.Calls = append(t.Calls, timed)
	}
	return t
}

// explained returns explanations of the matching keywords, or of those that were asked for, with how they did in the auction.
func (e *explaining) explained(ctx context.Context) (x *search.Explanation, err error) {
	own := *e.req
	if e.p.WhyNot != "" {
		if own.Wanted, err = search.ParseWanted("why_not", e.p.WhyNot); err != nil {
			return nil, err
		}
	}
	if x, err = e.Explainer.Explain(ctx, &own, e.p.Offset+e.p.Limit); err != nil {
		return nil, err
	}
	if e.page == nil && own.Wanted.Keyword != 0 && len(x.Matches) == 1 && x.Matches[0].Verdict == search.Eligible {
		if err = e.addRivals(ctx, e.req, x); err != nil {
			return nil, err
		}
	}
	e.settle(x.Matches)
	if own.Wanted.Any() {
		x.Matches = slices.DeleteFunc(x.Matches, func(m search.Explained) bool { return !own.Wanted.Has(&m) })
	}
	return x, nil
}

// mostRivals bounds the keywords among which better ones of an advertiser are looked for.
const mostRivals = 10_000

// addRivals adds the other matching keywords of a keyword's advertiser, because only the best one of each advertiser takes part in the
// auction.
func (c *call) addRivals(ctx context.Context, req *search.Request, e *search.Explanation) error {
	all, err := c.Explainer.Explain(ctx, req, mostRivals)
	if err != nil {
		return err
	}
	one := e.Matches[0]
	for _, m := range all.Matches {
		if m.Advertiser == one.Advertiser && m.Keyword != one.Keyword {
			e.Matches = append(e.Matches, m)
		}
	}
	slices.SortFunc(e.Matches, func(a, b search.Explained) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword, b.Keyword))
	})
	if all.Width.Less(e.Width) {
		e.Width, e.Missing = all.Width, all.Missing
	}
	return nil
}

// answer returns one page of the explained keywords.
func (e *explaining) answer(explained *search.Explanation) *api.ExplainAnswer {
	c, p, req, found := e.call, e.p, e.req, e.found
	page := explained.Matches[min(p.Offset, len(explained.Matches)):]
	page = page[:min(p.Limit, len(page))]
	a := &api.ExplainAnswer{
		Query: req.Query.Text, Truncated: req.Query.Truncated, Slots: p.Slots, Device: p.Device,
		Total: explained.Total, Offset: p.Offset, Matches: make([]api.ExplainedKeyword, len(page)),
		Coverage: coverage(found), RequestID: req.RequestID, WordsVersion: c.Expansions.Languages().Version(),
		QueryWords: queryWords(c.Expansions.Explain(req.Query.Text, req.Query.Vocabulary)),
		Scorer:     req.Scorer.String(), VocabularyVersion: c.seen.Vocabulary,
	}
	names, err := c.places()
	if err != nil { // countries have names even without a table
		names = places.Countries()
	}
	for i := range page {
		a.Matches[i] = explainedKeyword(&page[i], req, names)
		if note := e.notes[page[i].Keyword]; note != "" {
			a.Matches[i].Reason = note
		}
	}
	if e.page != nil {
		a.Placement, a.Slots = e.page.at.id, e.page.at.slots
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

// queryWords returns what is known of a query's words.
func queryWords(list []search.ExplainedWord) []api.QueryWord {
	out := make([]api.QueryWord, len(list))
	for i, w := range list {
		out[i] = api.QueryWord{Word: w.Normalised, Folded: w.Fold, Stems: make([]api.WordStem, len(w.Stems)), Corrections: w.Corrections}
		for j, s := range w.Stems {
			out[i].Stems[j] = api.WordStem{Language: s.Language, Stem: s.Stem, Synonyms: s.Synonyms}
		}
	}
	return out
}

func explainedKeyword(m *search.Explained, req *search.Request, names *places.Table) api.ExplainedKeyword {
	k := api.ExplainedKeyword{
		KeywordID: m.Keyword, GroupID: m.Group, CampaignID: m.Campaign, AdvertiserID: m.Advertiser,
		Advertiser: m.AdvertiserName, Campaign: m.CampaignName, Group: m.GroupName, Keyword: m.KeywordText,
		MatchType: api.MatchType(m.Type.String()), Variant: variant(m.Level),
		Verdict: api.Verdict(m.Verdict.String()), Reason: reason(m, req, names), LostTo: m.LostTo, BidToWinMicros: m.ToWin,
		Quality: m.Quality, Score: m.Score, Shard: m.Shard, Slice: m.Slice,
		Words: make([]api.WordAgreement, len(m.Words)),
	}
	k.Factors, k.Clamped, k.Scored = factors(m, req.Device), m.Clamped, scored(m.Scored)
	k.QualityPoints, k.Learned, k.DefaultTexts = m.Points, learned(m), m.Defaults
	for i, w := range m.Words {
		k.Words[i] = api.WordAgreement{Keyword: w.Keyword, Query: w.Query, Agreement: variant(w.Level)}
	}
	for _, name := range backend.Hold(m.Held).Reasons() {
		k.PausedBy = append(k.PausedBy, api.PausedBy(name))
	}
	if m.Mismatch != search.NoMismatch {
		k.Mismatch = &api.Mismatch{Reason: api.MismatchReason(m.Mismatch.String()), Words: append([]string{}, m.MismatchWords...)}
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

// scored says how the scorer changed a keyword's quality. It returns nil if there is no scorer.
func scored(s *search.Scored) *api.Scored {
	if s == nil {
		return nil
	}
	out := &api.Scored{FactorPermille: s.Factor, Parts: []api.ScoredPart{}}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, api.ScoredPart{Feature: p.Feature, Value: p.Value, Weight: p.Weight})
	}
	return out
}

// variant returns the name of a level, or "" for NoLevel.
func variant(l search.Level) api.Variant {
	if l == search.NoLevel {
		return ""
	}
	return api.Variant(l.String())
}

// showBid fills in the parts of the bid that were known when the verdict was reached.
func showBid(k *api.ExplainedKeyword, m *search.Explained) {
	checked := m.Verdict != search.NoBid &&
		(m.Verdict < search.KeywordPaused || m.Verdict >= search.DeviceOff && m.Verdict != search.Throttled && !m.Verdict.OfTargeting() || m.Bid > 0)
	if !checked {
		return
	}
	k.BidMicros, k.ModifierPermille, k.EffectiveBidMicros = &m.Bid, &m.Modifier, &m.Effective
	k.BidOf = api.ExplainedKeywordBidOfKeyword
	if m.BidFromGroup {
		k.BidOf = api.ExplainedKeywordBidOfGroup
	}
}

// learned says what a keyword's quality was learned from. It returns nil if the quality is the given one.
func learned(m *search.Explained) *api.LearnedQuality {
	if m.Learned == 0 {
		return nil
	}
	l := backend.Learned(m.Learned)
	return &api.LearnedQuality{
		GivenQuality: m.Given, Level: api.LearnedQualityLevel(quality.Level(min(l.Level(), uint8(quality.LevelAd))).String()), Impressions: l.Impressions(), Clicks: l.Clicks(),
	}
}
