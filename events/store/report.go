package store

import "fmt"

// Grouping is what the rows of a report are about.
type Grouping uint8

// The groupings.
const (
	ByCampaign Grouping = iota
	ByKeyword           // of a campaign
	ByQuery             // of a campaign
	ByPlace             // a keyword's ad in a position
)

// Query says which counts a report is of.
type Query struct {
	By         Grouping
	Daily      bool // a row for each day
	From, To   Day  // the first and the last one
	Advertiser uint64
}

// Row is a row of a report. What it is not about is 0.
type Row struct {
	Sum
	// Advertiser and Keyword are 0 for counts that were not yet kept by advertiser; Ad and Position are
	// 0 for counts that were not yet kept by place.
	Advertiser, Keyword, Ad uint64
	Position                uint8
	// Query is the hash of a query's words if Kept; else the row is about events whose
	// queries are not kept any more.
	Query uint64
	Kept  bool
}

// ReportSQL is a report as all databases read it that keep events in tables raw and folded,
// whose names prefix is before: numbers in the order of ScanReport. An event is in one of
// both tables, and a statement sees both at one moment.
func ReportSQL(q Query, prefix string) string {
	keyword, ad, position, query, kept, day := "0", "0", "0", "0", "0", "0"
	switch q.By {
	case ByCampaign:
	case ByKeyword:
		keyword = "keyword"
	case ByQuery:
		query, kept = "query", "1"
	case ByPlace:
		keyword, ad, position = "keyword", "ad", "position"
	}
	if q.Daily {
		day = "day"
	}
	where := fmt.Sprintf("day BETWEEN %d AND %d", q.From, q.To)
	if q.Advertiser != 0 {
		where += fmt.Sprintf(" AND advertiser = %d", q.Advertiser)
	}
	const group = "advertiser, campaign, keyword, ad, position, kept, query, day"
	place := fmt.Sprintf("%s AS keyword, %s AS ad, %s AS position", keyword, ad, position)
	return fmt.Sprintf(`SELECT %[1]s, CAST(sum(impressions) AS bigint), CAST(sum(clicks) AS bigint), CAST(sum(spend) AS bigint)
FROM (SELECT advertiser, campaign, %[2]s, 0 AS kept, 0 AS query, %[5]s AS day, impressions, clicks, spend FROM %[6]sfolded WHERE %[7]s
  UNION ALL SELECT advertiser, campaign, %[2]s, %[3]s, %[4]s, %[5]s, CASE kind WHEN 1 THEN 1 ELSE 0 END, CASE kind WHEN 2 THEN 1 ELSE 0 END,
    CASE kind WHEN 2 THEN price ELSE 0 END FROM %[6]sraw WHERE %[7]s) AS counted
GROUP BY %[1]s ORDER BY %[1]s`, group, place, kept, query, day, prefix, where)
}

// ReportColumns is how many columns ReportSQL selects.
const ReportColumns = 11

// ScanReport makes a row of the columns of ReportSQL.
func ScanReport(n [ReportColumns]int64) Row {
	return Row{
		Sum: Sum{
			Campaign: uint64(n[1]), Day: Day(n[7]), Impressions: uint64(n[8]), Clicks: uint64(n[9]), Spend: uint64(n[10]),
		},
		Advertiser: uint64(n[0]), Keyword: uint64(n[2]), Ad: uint64(n[3]), Position: uint8(n[4]), Kept: n[5] == 1, Query: uint64(n[6]),
	}
}
