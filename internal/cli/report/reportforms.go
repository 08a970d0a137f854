package report

import (
	"strconv"

	eventreport "adshard/events/report"
	"adshard/events/store"
	"adshard/ingest/tsv"
	"adshard/internal/money"
)

// lineJSON is a line of output with --json.
type lineJSON struct {
	Day         string   `json:"day,omitempty"`
	Advertiser  uint64   `json:"advertiser_id"`
	Name        string   `json:"advertiser"`
	CampaignID  uint64   `json:"campaign_id"`
	Campaign    string   `json:"campaign"`
	KeywordID   *uint64  `json:"keyword_id,omitempty"`
	Keyword     *string  `json:"keyword,omitempty"`
	MatchType   *string  `json:"match_type,omitempty"`
	Query       *string  `json:"query,omitempty"`
	Queries     *uint64  `json:"queries,omitempty"`
	Impressions uint64   `json:"impressions"`
	Clicks      uint64   `json:"clicks"`
	Rate        *float64 `json:"click_rate"`
	SpendMicros uint64   `json:"spend_micros"`
}

// sumJSON is the last line of output with --json.
type sumJSON struct {
	Lines       uint64   `json:"lines"`
	Impressions uint64   `json:"impressions"`
	Clicks      uint64   `json:"clicks"`
	Rate        *float64 `json:"click_rate"`
	SpendMicros uint64   `json:"spend_micros"`
}

func (w *reportWriter) object(l *eventreport.Line) lineJSON {
	out := lineJSON{
		Advertiser: l.Advertiser, Name: l.AdvertiserName, CampaignID: l.Campaign, Campaign: l.CampaignName,
		Impressions: l.Impressions, Clicks: l.Clicks, Rate: clickRate(l.Sum), SpendMicros: l.Spend,
	}
	if w.q.Daily {
		out.Day = dayText(l.Day)
	}
	switch w.q.By {
	case store.ByCampaign:
	case store.ByKeyword:
		out.KeywordID, out.Keyword, out.MatchType = &l.Keyword, &l.Text, &l.MatchType
	case store.ByQuery:
		out.Query, out.Queries = &l.Words, &l.Queries
	}
	return out
}

// head returns the columns of CSV, and cells returns the cells of a line.
func (w *reportWriter) head() (cells []string) {
	if w.q.Daily {
		cells = append(cells, "day")
	}
	cells = append(cells, "advertiser_id", "advertiser", "campaign_id", "campaign")
	switch w.q.By {
	case store.ByCampaign:
	case store.ByKeyword:
		cells = append(cells, "keyword_id", "keyword", "match_type")
	case store.ByQuery:
		cells = append(cells, "query", "queries")
	}
	return append(cells, "impressions", "clicks", "click_rate", "spend")
}

func (w *reportWriter) cells(l *eventreport.Line) (cells []string) {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	if w.q.Daily {
		cells = append(cells, dayText(l.Day))
	}
	cells = append(cells, number(l.Advertiser), tsv.Safe(l.AdvertiserName), number(l.Campaign), tsv.Safe(l.CampaignName))
	switch w.q.By {
	case store.ByCampaign:
	case store.ByKeyword:
		cells = append(cells, number(l.Keyword), tsv.Safe(l.Text), l.MatchType)
	case store.ByQuery:
		cells = append(cells, tsv.Safe(l.Words), number(l.Queries))
	}
	shown := ""
	if r := clickRate(l.Sum); r != nil {
		shown = strconv.FormatFloat(*r, 'f', 6, 64)
	}
	return append(cells, number(l.Impressions), number(l.Clicks), shown, money.Format(l.Spend))
}
