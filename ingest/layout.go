package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
)

// layout maps each column to its cell in a record; −1 means missing.
type layout struct {
	cell    [columns]int
	headers [][]byte // of all cells
	// flags are the hints that headings give about rows whose cell says yes.
	flags []hint
	// statusOf holds the cells of colStatus for rows of keywords, of ads and of all other kinds.
	statusOf [3]int
	// others are the cells that identify rows of other kinds, in the order of otherKinds.
	others []otherCell
	// unnamed are the unknown columns, including those of others. hinting are those of them whose cells may restrict
	// the row.
	unnamed, hinting []int
	// rowType is the cell that names the kind of a row, or −1 if it is missing. bulk says that rows have ids, as in a
	// bulk sheet.
	rowType int
	bulk    bool
	// ofCampaign marks the cells of campaign settings that a row of any kind may fill in.
	ofCampaign []bool
	// restricting are the cells that restrict their campaign. extras says that the file has some columns of
	// rowExtras.
	restricting []restrictingCell
	extras      bool
}

// width returns the number of cells of the header.
func (l *layout) width() int { return len(l.headers) }

// header returns the name of a cell's column for a report: bounded, with a space for each character that does not
// print.
func (l *layout) header(cell int) string {
	text := strings.ToValidUTF8(string(l.headers[cell]), "\ufffd")
	if runes := []rune(text); len(runes) > rejected.QuotedRunes {
		text = string(runes[:rejected.QuotedRunes]) + "…"
	}
	return cmp.Or(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text), cellName(cell))
}

// knownName is a column with the rank of one of its names; rank 0 is the main name.
type knownName struct {
	column column
	rank   int
}

// stateRank is the rank of a name with "state" in place of "status".
const stateRank = 100

// knownNames maps names of columns, as values.Plain returns them, to the columns.
func knownNames() map[string]knownName {
	m := make(map[string]knownName, 2*columns)
	for c := range columns {
		names := c.names()
		for rank, name := range names {
			m[values.Plain(name)] = knownName{c, rank}
		}
		if name := values.Plain(names[0]); strings.HasSuffix(name, "status") {
			m[withState(name)] = knownName{c, stateRank}
		}
	}
	m[values.Plain("Description Line 2")] = knownName{colDescription1 + 1, 1}
	return m
}

// withState returns a name that ends with "status" as other exports have it, with "state" at the end.
func withState(name string) string { return strings.TrimSuffix(name, "status") + "state" }

// layoutOf reads a header. Two columns with the main name of one column are an error of the file. So are two columns
// with aliases of one column if its main name is missing. found counts the known columns.
func layoutOf(cells [][]byte, names map[string]knownName) (l layout, found int, err error) {
	var ranks, doubled [columns]int
	for c := range l.cell {
		l.cell[c], doubled[c] = -1, -1
	}
	l.rowType = -1
	others := otherColumns()
	id := false
	for i, cell := range cells {
		l.headers = append(l.headers, bytes.TrimSpace(cell))
		name := values.Plain(string(cell))
		l.flags = append(l.flags, hintOfHeading(name))
		if l.rowType < 0 && slices.Contains(ownerTypes, name) {
			l.rowType = i
		}
		id = id || name == "id"
		known, ok := names[name]
		c := known.column
		switch {
		case !ok:
			l.addUnnamed(i, name, others)
			continue
		case l.cell[c] < 0:
			l.cell[c], ranks[c] = i, known.rank
			found++
		case known.rank == 0 && ranks[c] == 0, slices.Contains(restrictingColumns[:], c), slices.Contains(placeColumns[:], c):
			return l, found, errTwoColumns(c, l.cell[c], i)
		case known.rank == 0:
			l.cell[c], ranks[c] = i, 0
		case ranks[c] > 0 && doubled[c] < 0:
			doubled[c] = i
		}
	}
	for c := range columns {
		if ranks[c] > 0 && doubled[c] >= 0 {
			return l, found, errTwoColumns(c, l.cell[c], doubled[c])
		}
	}
	l.bulk = id && l.rowType >= 0
	l.resolve()
	l.hinting = slices.DeleteFunc(slices.Clone(l.unnamed), func(i int) bool { return l.flags[i] == hintSilent })
	l.ofCampaign = make([]bool, l.width())
	for _, c := range anyCells[backend.EntityCampaign] {
		if i := l.cell[c]; i >= 0 {
			l.ofCampaign[i] = true
		}
	}
	l.findExtras()
	return l, found, nil
}

// resolve decides between columns that can stand in for each other.
func (l *layout) resolve() {
	if l.cell[colAccount] < 0 {
		l.cell[colAccount], l.cell[colAccountName] = l.cell[colAccountName], -1
	}
	if at := l.cell[colType]; at >= 0 {
		l.unnamed = append(l.unnamed, at) // Type says what a keyword is, and nothing known about other rows
		if l.cell[colCriterionType] >= 0 {
			l.cell[colType] = -1
		}
	}
	at := l.cell[colStatus]
	l.statusOf = [...]int{at, at, at}
	if at < 0 {
		l.statusOf[ofKeyword], l.statusOf[ofAd] = l.cell[colKeywordStatus], l.cell[colAdStatus]
	}
	l.cell[colKeywordStatus], l.cell[colAdStatus] = -1, -1
	slices.SortStableFunc(l.others, func(a, b otherCell) int { return cmp.Compare(a.kind, b.kind) })
}

// Indices of layout.statusOf.
const (
	ofKeyword = iota
	ofAd
	ofOwner
)

func errTwoColumns(c column, first, second int) error {
	return fmt.Errorf("two columns for %s, the %s and the %s: remove one", c, ordinal(first+1), ordinal(second+1))
}

func (l *layout) addUnnamed(cell int, name string, others map[string]otherKind) {
	l.unnamed = append(l.unnamed, cell)
	if kind, ok := others[name]; ok {
		l.others = append(l.others, otherCell{cell, kind})
	}
}
