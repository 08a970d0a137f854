package ingest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"

	"adshard/backend"
	"adshard/ingest/values"
)

func (s *editorSource) readKeyword(e *entry) {
	s.row.layout.cell[colStatus] = s.row.layout.statusOf[ofKeyword]
	text := s.row.text(colKeyword)
	text, matchType := values.Unwrap(text)
	of, ok := values.Positive, true
	if c := s.typeColumn(); s.row.filled(c) {
		var err error
		of, matchType, err = values.ParseType(s.row.text(c), matchType)
		s.row.note(c, err)
		ok = err == nil
	}
	s.row.note(colKeyword, checkSpreadsheet(text))
	joined := s.joinedWords(text)
	status := s.row.status(colStatus)
	if of == values.GroupNegative && ok && !s.row.filled(colAdGroup) {
		of = values.CampaignNegative
	}
	if of != values.CampaignNegative && (ok || s.row.filled(colAdGroup)) {
		e.group = s.name(colAdGroup)
		s.groupCells(e)
	}
	if of == values.Positive {
		e.kind = kindKeyword
		e.keyword = backend.KeywordPatch{Text: text, Words: joined, Type: matchType, Status: status}
		s.keywordOwn(&e.keyword)
		s.row.note(colKeyword, s.checkMinus(text))
		return
	}
	e.kind = kindGroupNegative
	if of == values.CampaignNegative {
		e.kind = kindCampaignNegative
	}
	e.negative = backend.NegativePatch{Text: text, Words: joined, Type: matchType, Status: status}
}

// typeUse says how a file without a column for the criterion type uses its column Type.
type typeUse uint8

const (
	typesUnknown typeUse = iota // no keyword row has filled it yet
	typesOfCriteria
	typesOfRows // or for anything else: the column is not used
)

var (
	errTypeOfRow     = errors.New("not a criterion type, as those of the rows before are: Broad, Phrase or Exact, alone or after Negative or Campaign Negative")
	errTypeOfKeyword = errors.New("a criterion type, unlike those of the rows before, so that the column is not used: name the column Criterion Type")
)

// typeColumn returns the column that holds the criterion type of the row. If only the column Type is filled, the
// first keyword with a Type decides whether Type is the criterion type. A later row that differs is rejected.
func (s *editorSource) typeColumn() column {
	if !s.row.filled(colType) {
		return colCriterionType
	}
	_, _, err := values.ParseType(string(s.row.cell(colType)), 0)
	if s.types == typesUnknown {
		s.types = typesOfCriteria
		if err != nil {
			s.types = typesOfRows
			for _, k := range []kind{kindKeyword, kindGroupNegative, kindCampaignNegative, kindAdvertiserNegative} {
				s.usage.leave(k, s.row.layout.cell[colType])
			}
		}
	}
	switch {
	case s.types == typesOfCriteria && err != nil:
		s.row.note(colType, errTypeOfRow)
	case s.types == typesOfRows && err == nil:
		s.row.note(colType, errTypeOfKeyword)
	}
	if s.types == typesOfCriteria {
		return colType
	}
	return colCriterionType
}

// isText reports whether a cell is the keyword's text or an owner's name. Such texts may begin with any word.
func (r *editorRow) isText(i int) bool {
	l := &r.layout.cell
	return i == l[colAccount] || i == l[colAccountName] || i == l[colCampaign] || i == l[colAdGroup] || i == l[colKeyword]
}

// negatives lists the beginnings of cells that call a row a negative, in the form that values.Plain returns.
var negatives = []string{"negative", "campaignnegative", "adgroupnegative", "groupnegative", "accountnegative", "accountlevelnegative",
	"sharednegative"}

// saysNegative reports whether a cell begins with one of `negatives`: the word negative, or one such as campaignnegative.
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
	plain := values.Plain(string(cell[:min(len(cell), longest)]))
	return slices.ContainsFunc(negatives, func(begin string) bool { return strings.HasPrefix(plain, begin) })
}

// mayBegin reports whether a cell begins with the first letters of one of `negatives`. It makes the check of other
// cells cheap.
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
	switch values.Plain(string(cell)) {
	case "", "false", "no", "n", "0", "off", "none", "n/a", "[]", "—", "positive":
		return false
	}
	return true
}

var errNoHeadline = errors.New("an ad without a headline: it could not be shown")

func (s *editorSource) readAd(e *entry) {
	s.row.layout.cell[colStatus] = s.row.layout.statusOf[ofAd]
	e.kind = kindAd
	e.group = s.name(colAdGroup)
	s.groupCells(e)
	s.row.text(colAdType) // the only wrong value there is []
	e.ad = backend.AdPatch{
		Headlines:    s.row.texts(colHeadline1, maxHeadlines),
		Descriptions: s.row.texts(colDescription1, maxDescriptions),
		Path1:        s.row.text(colPath1),
		Path2:        s.row.text(colPath2),
		FinalURL:     s.row.text(colFinalURL),
		Status:       s.row.status(colStatus),
	}
	s.row.note(colHeadline1, checkHeadlines(&e.ad))
	s.row.note(colFinalURL, checkAdURL(&e.ad))
}

// checkHeadlines returns an error if an ad has no headline. An ad that is being removed may lack one, since it may
// have been imported before this check existed.
func checkHeadlines(ad *backend.AdPatch) error {
	if len(ad.Headlines) == 0 && ad.Status != backend.Remove {
		return errNoHeadline
	}
	return nil
}

// checkAdURL returns an error if an ad's URL is not that of a web page. An ad that is being removed may have any URL,
// since it may have been imported before this check existed.
func checkAdURL(ad *backend.AdPatch) error {
	if ad.FinalURL == "" || ad.Status == backend.Remove {
		return nil
	}
	return values.CheckURL(ad.FinalURL)
}

// otherAd returns the kind of an ad that is not a text ad for searches, or "" if it is one.
func (s *editorSource) otherAd() string {
	cell := string(s.row.cell(colAdType))
	switch values.Plain(cell) {
	case "responsivesearchad", "expandedtextad", "textad", "[]": // [] is rejected elsewhere
		return ""
	}
	return s.kinds.of("ad of type", cell)
}

var errSpreadsheet = errors.New("a spreadsheet wrote this in place of the keyword: correct the cell, and format it as text")

// spreadsheetErrors lists the texts that spreadsheets show in place of a value that they cannot compute.
var spreadsheetErrors = []string{"#NAME?", "#REF!", "#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#FIELD!", "#ERROR!",
	"#BLOCKED!", "#BUSY!", "#CONNECT!", "#UNKNOWN!", "#GETTING_DATA"}

// checkSpreadsheet returns an error if a spreadsheet has destroyed the keyword: if it is an error value, a number in
// scientific notation such as 1.23457E+11, or the hash signs of a column that is too narrow.
func checkSpreadsheet(text string) error {
	switch {
	case text == "":
		return nil
	case text[0] == '#' && (slices.Contains(spreadsheetErrors, strings.ToUpper(text)) || len(text) > 2 && strings.Trim(text, "#") == ""):
		return errSpreadsheet
	case text[0] < '0' || text[0] > '9':
		return nil
	}
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return nil
	}
	mantissa, exponent := text[:e], text[e+1:]
	if len(exponent) < 2 || exponent[0] != '+' && exponent[0] != '-' || !values.Digits(exponent[1:]) {
		return nil
	}
	whole, fraction, pointed := strings.Cut(strings.ReplaceAll(mantissa, ",", "."), ".")
	if values.Digits(whole) && (!pointed || values.Digits(fraction)) {
		return errSpreadsheet
	}
	return nil
}
