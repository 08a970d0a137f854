package clicks

import (
	"context"
	"fmt"

	"adshard/auction"
	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/quality"
	"adshard/search"
)

// Market holds the keywords that compete for each query.
type Market struct {
	queries  []query
	keywords []keyword
	index    map[uint64]int // of keywords, by id
	// Contested is the share of the asked queries for which at least two advertisers
	// compete. Candidates is the mean number of keywords that compete for a query.
	Contested, Candidates float64
}

// keyword is a keyword that competes for a query.
type keyword struct {
	quality.Key // without an ad
	advertiser  uint64
	ads         []uint64 // shown in turn
	match       uint64   // factor of its match type, permille
	quality     uint8    // in the database
}

// query is a query with its candidates, and the running sum of how often queries are
// asked.
type query struct {
	text       string
	upTo       float64
	candidates []candidate
}

// candidate is a keyword that competes for a query.
type candidate struct {
	keyword int    // index in Market.keywords
	bid     uint64 // B of serving.md §4
	variant uint64 // factor of how well the keyword's words agree with the query's, permille
}

// reserve is the lowest price (serving.md §4).
const reserve = 10_000

// NewMarket looks up what competes for each text in the data of a snapshot; weights
// say how often each text is asked. It calls told with the share that is done.
func NewMarket(ctx context.Context, snapshot backend.Snapshot, texts []string, weights []float64, told func(done float64)) (*Market, error) {
	o, err := judge(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	m := &Market{index: make(map[uint64]int)}
	sum, contested, found := 0.0, 0.0, 0.0
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		judged, err := o.Explain(request(text, 1))
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", text, err)
		}
		q := query{text: text}
		advertisers := make(map[uint64]bool)
		for _, j := range judged {
			if c, ok := m.candidate(j); ok {
				q.candidates = append(q.candidates, c)
				advertisers[j.Advertiser.ID] = true
			}
		}
		sum += weights[i]
		q.upTo = sum
		found += weights[i] * float64(len(q.candidates))
		if len(advertisers) > 1 {
			contested += weights[i]
		}
		m.queries = append(m.queries, q)
		told(float64(i+1) / float64(len(texts)))
	}
	m.Contested, m.Candidates = contested/sum, found/sum
	return m, nil
}

// request returns a user's request for a text: the default profile, without synonyms.
func request(text string, slots int) oracle.Request {
	return oracle.Request{Text: text, Profile: search.DefaultProfile(), Slots: slots, Variants: search.Inflected, Reserve: reserve}
}

// judge returns the oracle of all data in a snapshot.
func judge(ctx context.Context, snapshot backend.Snapshot) (*oracle.Oracle, error) {
	advertisers, err := snapshot.Advertisers(ctx, nil)
	if err != nil {
		return nil, err
	}
	campaigns, err := snapshot.Campaigns(ctx, nil)
	if err != nil {
		return nil, err
	}
	var items []*backend.Item
	for item, err := range snapshot.All(ctx) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return oracle.New(advertisers, campaigns, items, nil)
}

// candidate returns the candidate that was judged; ok is false if it does not
// compete.
func (m *Market) candidate(j *oracle.Judged) (c candidate, ok bool) {
	switch j.Verdict {
	case search.Won, search.Lost, search.Superseded:
	default:
		return c, false
	}
	i, known := m.index[j.Keyword.ID]
	if !known {
		i = len(m.keywords)
		m.index[j.Keyword.ID] = i
		m.keywords = append(m.keywords, keyword{
			Key:        quality.Key{Campaign: j.Campaign.ID, Group: j.Item.Group.ID, Keyword: j.Keyword.ID},
			advertiser: j.Advertiser.ID, ads: shownAds(j), match: j.Keyword.Type.Permille(), quality: j.Keyword.Quality,
		})
	}
	return candidate{keyword: i, bid: j.Effective, variant: j.Level.Permille()}, true
}

// shownAds returns the ads that a group shows in turn: the first, or all enabled ones
// (serving.md §5.4).
func shownAds(j *oracle.Judged) (ads []uint64) {
	for _, ad := range j.Item.Ads {
		if ad.Enabled {
			ads = append(ads, ad.ID)
		}
	}
	if !j.Campaign.RotateEvenly {
		ads = ads[:1]
	}
	return ads
}

// ranks holds the quality that an auction uses for each keyword: Q of serving.md §4
// for identical words and an exact match, so that quality 10 is auction.MaxQuality.
// Qualities that are not rounded to ten steps may be any number.
type ranks []uint64

func ranksOf(qualities []uint8) ranks {
	out := make(ranks, len(qualities))
	for i, q := range qualities {
		out[i] = auction.Quality(uint64(q), 1000, 1000)
	}
	return out
}

// ranksOfRates returns the ranks of click rates, rounded only to millionths.
func ranksOfRates(rates []float64) ranks {
	out := make(ranks, len(rates))
	for i, r := range rates {
		out[i] = max(1, uint64(r*auction.MaxQuality))
	}
	return out
}

// auction runs the auction of a query.
func (m *Market) auction(q *query, ranks ranks, slots int, to []auction.Candidate) []auction.Placement {
	for i := range q.candidates {
		c := &q.candidates[i]
		k := &m.keywords[c.keyword]
		r := max(1, ranks[c.keyword]*k.match*c.variant/1_000_000)
		to = append(to, auction.Candidate{Advertiser: k.advertiser, Keyword: k.Keyword, Score: c.bid * r, Quality: r})
	}
	return auction.Finish(to, slots, reserve)
}
