package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

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
	columns           = colStatus + 1
)

// Texts of a responsive search ad.
const (
	maxHeadlines    = 15
	maxDescriptions = 4
)

// maxHeader is the most bytes of a header record.
const maxHeader = 64 << 10

var columnNames = [columns][]string{
	colAccount:        {"Account", "Account name"},
	colCampaign:       {"Campaign", "Campaign name"},
	colAdGroup:        {"Ad Group"},
	colKeyword:        {"Keyword", "Keyword text"},
	colCriterionType:  {"Criterion Type", "Match type", "Keyword type"},
	colMaxCPC:         {"Max CPC", "Max CPC bid", "Default max CPC"},
	colQuality:        {"Quality score"},
	colDesktop:        {"Desktop Bid Modifier"},
	colMobile:         {"Mobile Bid Modifier"},
	colTablet:         {"Tablet Bid Modifier"},
	colBudget:         {"Campaign Daily Budget", "Budget", "Daily budget"},
	colDelivery:       {"Delivery method", "Budget delivery method"},
	colLanguages:      {"Languages"},
	colRotation:       {"Ad rotation"},
	colTimeZone:       {"Time zone", "Account time zone"},
	colAdType:         {"Ad type"},
	colPath1:          {"Path 1"},
	colPath2:          {"Path 2"},
	colFinalURL:       {"Final URL"},
	colCampaignStatus: {"Campaign Status"},
	colAdGroupStatus:  {"Ad Group Status"},
	colStatus:         {"Status"},
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

// layout maps each column to its cell in a record; −1: missing.
type layout struct {
	cell  [columns]int
	width int // cells of the header
	// others identify rows of other kinds, in the order of otherKinds.
	others []otherCell
	// unnamed are the unknown columns, including those of others.
	unnamed      []unnamedColumn
	campaignType int
}

// unnamedColumn is an unknown column with its header.
type unnamedColumn struct {
	cell   int
	header string
}

// columnsByName maps names, as plainName writes them, to columns.
func columnsByName() map[string]column {
	m := make(map[string]column, 2*columns)
	for c := range columns {
		m[plainName(c.String())] = c
		for _, alias := range columnNames[c] {
			m[plainName(alias)] = c
		}
	}
	return m
}

// plainName is a header cell as it is compared: without case, white space, _.
func plainName(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
}

// layoutOf reads a header. Two columns for one name are an error of the file,
// unless the name is unknown.
func layoutOf(cells [][]byte, columns map[string]column) (layout, int, error) {
	l := layout{width: len(cells), campaignType: -1}
	for c := range l.cell {
		l.cell[c] = -1
	}
	found := 0
	others := otherColumns()
	for i, cell := range cells {
		name := plainName(string(cell))
		c, ok := columns[name]
		if !ok {
			l.addUnnamed(i, string(cell), name, others)
			continue
		}
		if first := l.cell[c]; first >= 0 {
			return l, found, fmt.Errorf("two columns for %s, the %s and the %s: remove one", c, ordinal(first+1), ordinal(i+1))
		}
		l.cell[c] = i
		found++
	}
	slices.SortStableFunc(l.others, func(a, b otherCell) int { return cmp.Compare(a.kind, b.kind) })
	return l, found, nil
}

func (l *layout) addUnnamed(cell int, header, name string, others map[string]otherKind) {
	l.unnamed = append(l.unnamed, unnamedColumn{cell, header})
	if kind, ok := others[name]; ok {
		l.others = append(l.others, otherCell{cell, kind})
	}
	if name == plainName(campaignType) {
		l.campaignType = cell
	}
}

// readHeader reads the header record and detects the separator: of tab and comma
// the one that yields more known columns.
func (r *recordReader) readHeader(needAccount bool) (layout, error) {
	raw, err := r.raw()
	if err != nil || len(raw) > maxHeader {
		return layout{}, headerFault(err)
	}
	columns := columnsByName()
	tab, tabs, tabErr := r.layoutBy('\t', raw, columns)
	comma, commas, commaErr := r.layoutBy(',', raw, columns)
	if commas > tabs || tabs == 0 && tabErr != nil {
		if commaErr != nil {
			return layout{}, commaErr
		}
		return comma, checkHeader(comma, commas, raw, needAccount)
	}
	r.sep = '\t'
	if tabErr != nil {
		return layout{}, tabErr
	}
	return tab, checkHeader(tab, tabs, raw, needAccount)
}

// layoutBy reads a header with cells separated by sep.
func (r *recordReader) layoutBy(sep byte, raw []byte, columns map[string]column) (layout, int, error) {
	r.sep = sep
	cells, err := r.split(bytes.Clone(raw)) // split works in place
	if err != nil {
		return layout{}, 0, err
	}
	return layoutOf(cells, columns)
}

func headerFault(err error) error {
	switch {
	case err == io.EOF:
		return errors.New("the file is empty")
	case err == nil || errors.Is(err, errTooLong):
		return fmt.Errorf("the header is longer than %d bytes: is this a Google Ads Editor file?", maxHeader)
	}
	return err
}

func checkHeader(l layout, found int, raw []byte, needAccount bool) error {
	switch {
	case bytes.IndexByte(raw, 0) >= 0:
		return errors.New("the header has zero bytes: UTF-16 needs a byte order mark; save the file as UTF-8 or as UTF-16 with one")
	case bytes.IndexByte(raw, '\r') >= 0:
		return errors.New("lines end with a single carriage return: save the file with LF or CRLF line ends")
	case found == 0:
		return errors.New("no column of a Google Ads Editor file is in the header (Account, Campaign, Ad Group, Keyword, …), with tabs or commas between: name the columns in the first line")
	case l.cell[colCampaign] < 0:
		return errors.New("no column Campaign: each row needs one")
	case l.cell[colAccount] < 0 && needAccount:
		return errors.New("no column Account: add it, or name the advertiser of the whole file by --advertiser")
	}
	return nil
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
