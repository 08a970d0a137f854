package httpapi

import (
	"fmt"
	"strings"
	"time"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

func (c *call) answer(req *search.Request, found *search.Answer) (*api.SearchAnswer, error) {
	placements := c.place(req, found)
	a := &api.SearchAnswer{
		Query: req.Query.Text, Truncated: req.Query.Truncated,
		Ads:     make([]api.Ad, len(placements)),
		Matched: found.Matched, Candidates: found.Candidates,
		Coverage: coverage(found), RequestID: req.RequestID,
	}
	if !found.CountsExact {
		a.Counts = api.SearchAnswerCountsLowerBound
	}
	for i, p := range placements {
		if err := showAd(&a.Ads[i], &found.Hits[p.Index]); err != nil {
			return nil, err
		}
		a.Ads[i].Position, a.Ads[i].PriceMicros = p.Position, p.Price
	}
	a.TookUs = time.Since(c.start).Microseconds()
	return a, nil
}

// showAd fills in all but place and price.
func showAd(a *api.Ad, h *search.Hit) error {
	c, err := h.Shown.Content()
	*a = api.Ad{
		AdID: h.Ad, KeywordID: h.Keyword, GroupID: h.Group, CampaignID: h.Campaign, AdvertiserID: h.Advertiser,
		Advertiser: c.Advertiser, Campaign: c.Campaign, Group: c.Group, Keyword: c.Keyword,
		MatchType: api.MatchType(h.Type.String()), Variant: api.Variant(h.Level.String()),
		Headlines: list(c.Headlines), Descriptions: list(c.Descriptions), Path: c.Path, FinalURL: c.FinalURL,
	}
	return err
}

func coverage(found *search.Answer) api.Coverage {
	complete := found.Width == search.WholeRing()
	c := api.Coverage{
		Shards: found.Shards, Answered: found.Answered, Complete: complete,
		PricesExact: complete, AppliedClock: found.AppliedClock,
	}
	c.Missing, c.Reasons = missing(found.Missing)
	return c
}

// missing names the shards that are missing, with the reasons.
func missing(list []search.Missing) (names []string, reasons map[string]api.MissingReason) {
	if len(list) == 0 {
		return []string{}, nil
	}
	reasons = make(map[string]api.MissingReason, len(list))
	for _, m := range list {
		names = append(names, m.Shard)
		reasons[m.Shard] = api.MissingReason(m.Reason.String())
	}
	return names, reasons
}

// listed writes shards with their reasons: slave-0 (late), slave-1 (silent).
func listed(list []search.Missing) string {
	var texts []string
	for _, m := range list {
		texts = append(texts, fmt.Sprintf("%s (%s)", m.Shard, m.Reason))
	}
	return strings.Join(texts, ", ")
}

// list makes JSON's [] of no strings, not null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
