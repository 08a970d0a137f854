package ingest

import "fmt"

// column is a column of the Editor format that is read. The order is the one
// in which faults of a row are looked for (serving.md §7).
type column uint8

const (
	colAccount column = iota
	colCampaign
	colAdGroup
	colKeyword
	colCriterionType
	colMaxCPC
	colQuality
	colDesktop
	colMobile
	colTablet
	colBudget
	colDelivery
	colLanguages
	colRotation
	colTimeZone
	colAdType
	colHeadline1
	colDescription1   = colHeadline1 + maxHeadlines
	colPath1          = colDescription1 + maxDescriptions
	colPath2          = colPath1 + 1
	colFinalURL       = colPath2 + 1
	colCampaignStatus = colFinalURL + 1
	colAdGroupStatus  = colCampaignStatus + 1
	colStatus         = colAdGroupStatus + 1
	writtenColumns    = colStatus + 1

	// Columns that are read only.
	colAccountName   = writtenColumns
	colKeywordStatus = colAccountName + 1
	colAdStatus      = colKeywordStatus + 1
	colType          = colAdStatus + 1
	colCampaignType  = colType + 1

	colEndDate          = colCampaignType + 1
	colCampaignOriginal = colEndDate + 1
	colAdGroupOriginal  = colCampaignOriginal + 1
	columns             = colAdGroupOriginal + 1
)

// Texts of a responsive search ad.
const (
	maxHeadlines    = 15
	maxDescriptions = 4
)

// maxHeader is the most bytes of a header record.
const maxHeader = 64 << 10

// columnNames are the names of columns, the main one first.
var columnNames = [columns][]string{
	colAccount:          {"Account"},
	colCampaign:         {"Campaign", "Campaign name"},
	colAdGroup:          {"Ad Group", "Ad group name"},
	colKeyword:          {"Keyword", "Keyword text"},
	colCriterionType:    {"Criterion Type", "Match type", "Keyword type"},
	colMaxCPC:           {"Max CPC", "Max CPC bid", "Default max CPC"},
	colQuality:          {"Quality score"},
	colDesktop:          {"Desktop Bid Modifier"},
	colMobile:           {"Mobile Bid Modifier"},
	colTablet:           {"Tablet Bid Modifier"},
	colBudget:           {"Campaign Daily Budget", "Budget", "Daily budget", "Campaign budget"},
	colDelivery:         {"Delivery method", "Budget delivery method"},
	colLanguages:        {"Languages", "Language", "Language targeting"},
	colRotation:         {"Ad rotation"},
	colTimeZone:         {"Time zone", "Account time zone"},
	colAdType:           {"Ad type"},
	colHeadline1:        {"Headline 1", "Headline"},
	colDescription1:     {"Description 1", "Description Line 1"},
	colDescription1 + 1: {"Description 2", "Description Line 2"},
	colPath1:            {"Path 1"},
	colPath2:            {"Path 2"},
	colFinalURL:         {"Final URL"},
	colCampaignStatus:   {"Campaign Status"},
	colAdGroupStatus:    {"Ad Group Status"},
	colStatus:           {"Status"},
	colAccountName:      {"Account name"},
	colKeywordStatus:    {"Keyword Status"},
	colAdStatus:         {"Ad Status"},
	colType:             {"Type"},
	colCampaignType:     {"Campaign Type", "Advertising channel type"},
	colEndDate:          {"End Date", "Campaign end date", "Campaign end date time", "End date time"},
	colCampaignOriginal: {"Campaign#Original"},
	colAdGroupOriginal:  {"Ad Group#Original"},
}

// String returns the column's name as serving.md §7 gives it first.
func (c column) String() string {
	switch {
	case c >= colHeadline1 && c < colDescription1:
		return fmt.Sprintf("Headline %d", c-colHeadline1+1)
	case c >= colDescription1 && c < colPath1:
		return fmt.Sprintf("Description %d", c-colDescription1+1)
	}
	return columnNames[c][0]
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
