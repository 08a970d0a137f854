package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"adshard/backend"
	"adshard/ingest/values"
	"adshard/internal/near"
)

// Unused is a column of the files that was filled and not used.
type Unused struct {
	Column string `json:"column"` // its heading
	// Of is the kind of rows that do not use a known column, or "" if no kind uses the column.
	Of   string `json:"of,omitempty"`
	Rows int64  `json:"rows"` // imported rows that have it filled
	// Meant is the name of the column that the heading may be a misspelling of, or "" if there is none.
	Meant string `json:"did_you_mean,omitempty"`
}

// String returns which column was not used, and where.
func (u *Unused) String() string {
	text := "column " + strconv.Quote(u.Column)
	if u.Of != "" {
		text += " of " + u.Of
	}
	text += ", filled in " + rowsOf(u.Rows, "row")
	if u.Meant != "" {
		text += fmt.Sprintf("; did you mean %q?", u.Meant)
	}
	return text
}

// columnsOfAll are the columns that every row with a campaign uses. columnsOf are the further columns, except Status,
// that rows of a kind use.
var (
	columnsOfAll = slices.Concat([]column{colCampaignOriginal, colAdGroupOriginal, colAccount, colAccountName, colCampaign,
		colCampaignStatus, colCampaignType}, anyCells[backend.EntityCampaign], anyCells[backend.EntityAdvertiser])
	columnsOf = [kinds][]column{
		kindCampaign:         ownCells[backend.EntityCampaign],
		kindGroup:            append([]column{colAdGroup, colAdGroupStatus}, ownCells[backend.EntityGroup]...),
		kindKeyword:          append([]column{colAdGroup, colAdGroupStatus, colKeyword, colCriterionType, colType}, ownCells[backend.EntityKeyword]...),
		kindGroupNegative:    {colAdGroup, colAdGroupStatus, colKeyword, colCriterionType, colType},
		kindCampaignNegative: {colAdGroup, colKeyword, colCriterionType, colType}, // the group of such a row is ignored by rule
		// An advertiser's negative has no campaign: no column of campaigns is used.
		kindAdvertiserNegative: append([]column{colAccount, colAccountName, colCampaign, colKeyword, colCriterionType, colType}, anyCells[backend.EntityAdvertiser]...),
		kindAd:                 append([]column{colAdGroup, colAdGroupStatus, colAdType, colPath1, colPath2, colFinalURL}, textColumns()...),
		kindLocation:           {colCriterionType, colLocation, colPlaceID, colRadius, colUnit, colLocationModifier},
	}
	statusesOf = [kinds]int{kindAdvertiser: ofOwner, kindCampaign: ofOwner, kindGroup: ofOwner, kindKeyword: ofKeyword,
		kindGroupNegative: ofKeyword, kindCampaignNegative: ofKeyword, kindAdvertiserNegative: ofKeyword, kindAd: ofAd, kindLocation: ofOwner}
	// kindLabels are the names of rows of a kind.
	kindLabels = [kinds]string{"advertisers", "campaigns", "ad groups", "keywords", "negatives", "negatives", "negatives", "ads", "block lists", "locations"}
)

func textColumns() (list []column) {
	for c := colHeadline1; c < colPath1; c++ {
		list = append(list, c)
	}
	return list
}

// usage holds which columns the rows of each kind do not use, and how many rows had them filled.
type usage struct {
	width  int
	unused [kinds][]bool
	rows   [kinds][]int64
}

func newUsage(l *layout) usage {
	u := usage{width: l.width()}
	for k := range u.unused {
		unused := slices.Repeat([]bool{true}, u.width)
		mark := func(at int) {
			if at >= 0 {
				unused[at] = false
			}
		}
		if kind(k) != kindAdvertiserNegative {
			for _, c := range columnsOfAll {
				mark(l.cell[c])
			}
		}
		for _, c := range columnsOf[k] {
			mark(l.cell[c])
		}
		mark(l.statusOf[statusesOf[k]])
		u.unused[k] = unused
	}
	return u
}

// leave marks the column at an index as not used by rows of a kind.
func (u *usage) leave(k kind, at int) {
	if at >= 0 {
		u.unused[k][at] = true
	}
}

// count counts the filled cells of an imported row that rows of its kind do not use. `filled` has the indices of the
// cells that are not empty.
func (u *usage) count(k kind, cells [][]byte, filled []int) {
	for _, i := range filled {
		if i >= u.width || !u.unused[k][i] || !says(cells[i]) {
			continue
		}
		if u.rows[k] == nil {
			u.rows[k] = make([]int64, u.width)
		}
		u.rows[k][i]++
	}
}

// says reports whether a cell of an unused column says anything.
func says(cell []byte) bool {
	if c := cell[0] | 0x20; c >= 'a' && c <= 'z' || cell[0] >= '0' && cell[0] <= '9' {
		return true
	}
	return dashless(strings.TrimSpace(string(cell))) != ""
}

// take returns the counts since the last call.
func (u *usage) take() (rows [kinds][]int64) {
	rows, u.rows = u.rows, rows
	return rows
}

// unusedKey is a column of the files and, if the column is known, the kind of rows that do not use it.
type unusedKey struct{ column, of string }

// unusedColumns counts the rows of all files by the column that they do not use.
type unusedColumns map[unusedKey]*Unused

// add adds the counts of a part of a file.
func (m *unusedColumns) add(l *layout, rows *[kinds][]int64) {
	for k := range rows {
		for i, n := range rows[k] {
			if n > 0 {
				m.of(l, kind(k), i).Rows += n
			}
		}
	}
}

func (m *unusedColumns) of(l *layout, k kind, cell int) *Unused {
	key := unusedKey{column: l.header(cell)}
	if slices.Contains(l.cell[:], cell) {
		key.of = kindLabels[k]
	}
	u, ok := (*m)[key]
	if !ok {
		if *m == nil {
			*m = make(unusedColumns)
		}
		u = &Unused{Column: key.column, Of: key.of, Meant: l.meant(key)}
		(*m)[key] = u
	}
	return u
}

// list returns the columns, first those that may be misspelt, then by descending number of rows.
func (m unusedColumns) list() []Unused {
	var list []Unused
	for _, u := range m {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Unused) int {
		if (a.Meant == "") != (b.Meant == "") {
			return cmp.Compare(b.Meant, a.Meant)
		}
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Of, b.Of))
	})
	return list
}

// meant returns the name of the column that a heading may be a misspelling of, among the columns that the file lacks,
// or "" if there is none.
func (l *layout) meant(key unusedKey) string {
	wrong := values.Plain(key.column)
	if _, known := knownNames()[wrong]; known || key.of != "" {
		return ""
	}
	var names, plain []string
	for c := range columns {
		if l.cell[c] >= 0 || c >= writtenColumns {
			continue
		}
		for _, name := range c.names() {
			if p := values.Plain(name); len(p) > len("id") && withoutDigits(p) != withoutDigits(wrong) {
				names, plain = append(names, name), append(plain, p)
			}
		}
	}
	found := near.Name(wrong, plain)
	if found == "" {
		return ""
	}
	return names[slices.Index(plain, found)]
}

// withoutDigits returns a name without its digits. Names that differ only in digits are not misspellings: C3 is not
// meant as C10.
func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}
