package ingest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"

	"adshard/backend"
)

func (s *editorSource) readKeyword(e *entry) {
	s.layout.cell[colStatus] = s.layout.statusOf[ofKeyword]
	text := s.text(colKeyword)
	text, matchType := unwrap(text)
	of, ok := positive, true
	if c := s.typeColumn(); s.filled(c) {
		var err error
		of, matchType, err = parseType(s.text(c), matchType)
		s.note(c, err)
		ok = err == nil
	}
	s.note(colKeyword, checkSpreadsheet(text))
	joined := s.joinedWords(text)
	status := s.status(colStatus)
	if of == groupNegative && ok && !s.filled(colAdGroup) {
		of = campaignNegative
	}
	if of != campaignNegative && (ok || s.filled(colAdGroup)) {
		e.group = s.name(colAdGroup)
		s.groupCells(e)
	}
	if of == positive {
		e.kind = kindKeyword
		e.keyword = backend.KeywordPatch{Text: text, Words: joined, Type: matchType, Status: status,
			Bid: s.bid(), Quality: s.quality()}
		s.note(colKeyword, s.checkMinus(text))
		return
	}
	e.kind = kindGroupNegative
	if of == campaignNegative {
		e.kind = kindCampaignNegative
	}
	e.negative = backend.NegativePatch{Text: text, Words: joined, Type: matchType, Status: status}
}

// typeUse is what the column Type is in a file that has no column for the criterion type.
type typeUse uint8

const (
	typesUnknown typeUse = iota // no keyword's row has had one yet
	typesOfCriteria
	typesOfRows // or of anything else: not used
)

var (
	errTypeOfRow     = errors.New("not a criterion type, as those of the rows before are: Broad, Phrase or Exact, alone or after Negative or Campaign Negative")
	errTypeOfKeyword = errors.New("a criterion type, unlike those of the rows before, so that the column is not used: name the column Criterion Type")
)

// typeColumn returns the column that says what the row's keyword is. The first keyword with a
// Type decides whether the column is the criterion type; a row that differs is rejected.
func (s *editorSource) typeColumn() column {
	if !s.filled(colType) {
		return colCriterionType
	}
	_, _, err := parseType(string(s.cell(colType)), 0)
	if s.types == typesUnknown {
		s.types = typesOfCriteria
		if err != nil {
			s.types = typesOfRows
			for _, k := range []kind{kindKeyword, kindGroupNegative, kindCampaignNegative, kindAdvertiserNegative} {
				s.usage.mark(&s.layout, k, []column{colType}, false)
			}
		}
	}
	switch {
	case s.types == typesOfCriteria && err != nil:
		s.note(colType, errTypeOfRow)
	case s.types == typesOfRows && err == nil:
		s.note(colType, errTypeOfKeyword)
	}
	if s.types == typesOfCriteria {
		return colType
	}
	return colCriterionType
}

// isText reports whether a cell is the keyword's text or an owner's name, which may begin with
// any word.
func (s *editorSource) isText(i int) bool {
	l := &s.layout.cell
	return i == l[colAccount] || i == l[colAccountName] || i == l[colCampaign] || i == l[colAdGroup] || i == l[colKeyword]
}

// negatives are how cells that speak of a negative begin, as plainName writes them.
var negatives = []string{"negative", "campaignnegative", "adgroupnegative", "groupnegative", "accountnegative", "accountlevelnegative",
	"sharednegative"}

// saysNegative reports whether a cell begins with the word negative, or with whose it is.
func saysNegative(cell []byte) bool {
	const longest = 64
	if len(cell) < len("negative") {
		return false
	}
	if c := cell[0] | 0x20; c < 'a' || c > 'z' {
		cell = bytes.TrimLeftFunc(cell, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	if len(cell) < len("negative") || !mayBegin(cell) {
		return false
	}
	plain := plainName(string(cell[:min(len(cell), longest)]))
	return slices.ContainsFunc(negatives, func(begin string) bool { return strings.HasPrefix(plain, begin) })
}

// mayBegin reports whether the first letters are those of one of negatives, so that other cells cost little.
func mayBegin(cell []byte) bool {
	switch first, second := cell[0]|0x20, cell[1]|0x20; first {
	case 'n':
		return second == 'e'
	case 'c':
		return second == 'a'
	case 'a':
		return second == 'd' || second == 'c'
	case 'g':
		return second == 'r'
	case 's':
		return second == 'h'
	}
	return false
}

// saysYes reports whether a cell below a heading such as Negative may mean yes.
func saysYes(cell []byte) bool {
	switch plainName(string(cell)) {
	case "", "false", "no", "n", "0", "off", "none", "n/a", "[]", "—", "positive":
		return false
	}
	return true
}
