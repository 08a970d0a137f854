package httpapi

import (
	"fmt"
	"strings"
	"time"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

func (c *call) answer(req *search.Request, found *search.Answer) *api.SearchAnswer {
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
		a.Ads[i] = shown(&found.Hits[p.Index])
		a.Ads[i].Position, a.Ads[i].PriceMicros = p.Position, p.Price
	}
	a.TookUs = time.Since(c.start).Microseconds()
	return a
}

func shown(h *search.Hit) api.Ad {
	return api.Ad{
		AdID: h.Ad.ID, KeywordID: h.Keyword, GroupID: h.Group, CampaignID: h.Campaign, AdvertiserID: h.Advertiser,
		Advertiser: h.AdvertiserName, Campaign: h.CampaignName, Group: h.GroupName, Keyword: h.KeywordText,
		MatchType: api.MatchType(h.Type.String()), Variant: api.Variant(h.Level.String()),
		Headlines: list(h.Ad.Headlines), Descriptions: list(h.Ad.Descriptions),
		Path: displayPath(h.Ad.Path1, h.Ad.Path2), FinalURL: h.Ad.FinalURL,
	}
}

// displayPath is path 1, or path 1/path 2; path 2 alone keeps its place.
func displayPath(path1, path2 string) string {
	if path2 == "" {
		return path1
	}
	return path1 + "/" + path2
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
