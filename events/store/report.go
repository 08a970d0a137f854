package store

import "fmt"

// Grouping says what each row of a report is about.
type Grouping uint8

// The groupings.
const (
	ByCampaign Grouping = iota
	ByKeyword           // of a campaign
	ByQuery             // of a campaign
	ByPlace             // an ad of a keyword in a position
)

// Query says which counts a report has, and how they are grouped.
type Query struct {
	By         Grouping
	Daily      bool // a row for each day
	From, To   Day  // the first and the last day
	Advertiser uint64
}

// Row is a row of a report. Fields that its grouping does not name are 0.
type Row struct {
	Sum
	// Advertiser and Keyword are 0 for counts from the time when they were not yet kept by advertiser.
	// Ad and Position are 0 for counts from the time when they were not yet kept by place.
	Advertiser, Keyword, Ad uint64
	Position                uint8
	// Query is the hash of a query's words if Kept is set. Otherwise the row is about events whose
	// queries are no longer kept.
	Query uint64
	Kept  bool
}

// ReportSQL returns the SQL of a report, for every database that keeps events in the tables raw and
// folded; prefix is put before the names of the tables. It selects numbers in the order that ScanReport
// expects. Each event is in one of the two tables, and the statement reads both at the same moment.
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

// ReportColumns is the number of columns that ReportSQL selects.
const ReportColumns = 11

// ScanReport returns the row that has the values of ReportSQL's columns.
func ScanReport(n [ReportColumns]int64) Row {
	return Row{
		Sum: Sum{
			Campaign: uint64(n[1]), Day: Day(n[7]), Impressions: uint64(n[8]), Clicks: uint64(n[9]), Spend: uint64(n[10]),
		},
		Advertiser: uint64(n[0]), Keyword: uint64(n[2]), Ad: uint64(n[3]), Position: uint8(n[4]), Kept: n[5] == 1, Query: uint64(n[6]),
	}
}
