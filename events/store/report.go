package store

import "fmt"

// Grouping is what the rows of a report are about.
type Grouping uint8

// The groupings.
const (
	ByCampaign Grouping = iota
	ByKeyword           // of a campaign
	ByQuery             // of a campaign
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
	// Advertiser is 0 for counts from before they were kept by advertiser, and so is Keyword.
	Advertiser, Keyword uint64
	// Query is the hash of a query's words if Kept; else the row is about events whose
	// queries are not kept any more.
	Query uint64
	Kept  bool
}

// ReportSQL is a report as all databases read it that keep events in tables raw and folded,
// whose names prefix is before: nine numbers in the order of ScanReport. An event is in one of
// both tables, and a statement sees both at one moment.
func ReportSQL(q Query, prefix string) string {
	keyword, query, kept, day := "0", "0", "0", "0"
	switch q.By {
	case ByCampaign:
	case ByKeyword:
		keyword = "keyword"
	case ByQuery:
		query, kept = "query", "1"
	}
	if q.Daily {
		day = "day"
	}
	where := fmt.Sprintf("day BETWEEN %d AND %d", q.From, q.To)
	if q.Advertiser != 0 {
		where += fmt.Sprintf(" AND advertiser = %d", q.Advertiser)
	}
	return fmt.Sprintf(`SELECT advertiser, campaign, keyword, kept, query, day, CAST(sum(impressions) AS bigint), CAST(sum(clicks) AS bigint), CAST(sum(spend) AS bigint)
FROM (SELECT advertiser, campaign, %[1]s AS keyword, 0 AS kept, 0 AS query, %[4]s AS day, impressions, clicks, spend FROM %[5]sfolded WHERE %[6]s
  UNION ALL SELECT advertiser, campaign, %[1]s, %[3]s, %[2]s, %[4]s, CASE kind WHEN 1 THEN 1 ELSE 0 END, CASE kind WHEN 2 THEN 1 ELSE 0 END,
    CASE kind WHEN 2 THEN price ELSE 0 END FROM %[5]sraw WHERE %[6]s) AS counted
GROUP BY advertiser, campaign, keyword, kept, query, day ORDER BY advertiser, campaign, keyword, kept, query, day`,
		keyword, query, kept, day, prefix, where)
}

// ReportColumns is how many columns ReportSQL selects.
const ReportColumns = 9

// ScanReport makes a row of the columns of ReportSQL.
func ScanReport(n [ReportColumns]int64) Row {
	return Row{
		Sum: Sum{
			Campaign: uint64(n[1]), Day: Day(n[5]), Impressions: uint64(n[6]), Clicks: uint64(n[7]), Spend: uint64(n[8]),
		},
		Advertiser: uint64(n[0]), Keyword: uint64(n[2]), Kept: n[3] == 1, Query: uint64(n[4]),
	}
}
