package ingest

import (
	"bytes"
	"strings"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
)

// campaignTypes holds the types of campaigns that are not for searches, by campaign. The rows of such a campaign are
// not imported, though only the campaign's own row gives its type.
type campaignTypes map[campaignKey]string

type campaignKey struct{ advertiser, campaign string }

func (t *campaignTypes) none() bool { return len(*t) == 0 }

// ofForeignCampaign skips a row of a campaign that is not for searches. The first row that says so pauses the
// campaign, which may have been a search campaign before.
func (s *editorSource) ofForeignCampaign(e *entry) {
	typed := dashless(string(s.row.cell(colCampaignType)))
	if typed == "" && s.foreign.none() {
		return
	}
	key := campaignKey{e.advertiser, e.campaign}
	kind, foreign := (*s.foreign)[key]
	switch {
	case typed != "" && forSearches(typed):
		delete(*s.foreign, key)
	case typed != "":
		if kind = s.kinds.of("row of a campaign of type", typed); s.row.err == nil && !foreign {
			if *s.foreign == nil {
				*s.foreign = make(campaignTypes)
			}
			(*s.foreign)[key] = kind
			e.pauses = true
		}
		e.skipped = kind
	case foreign:
		e.skipped = kind
	}
}

// forSearches reports whether campaigns of this type are search campaigns.
func forSearches(typed string) bool {
	plain := values.Plain(typed)
	if plain == "search" || plain == "searchnetworkonly" {
		return true
	}
	return strings.HasPrefix(plain, "searchnetworkwith") || strings.HasPrefix(plain, "search&") || strings.HasPrefix(plain, "searchand")
}

// dashless returns a cell, or "" if the cell holds what exports write for a missing value.
func dashless(cell string) string {
	if cell == "[]" || strings.Trim(cell, "-–—") == "" {
		return ""
	}
	return cell
}

// kindNames holds the names of kinds of rows that come from cells of files.
type kindNames map[[2]string]string

// kindsNamed is the most names in kindNames.
const kindsNamed = 100

// of returns the name of the kind that a cell denotes.
func (k *kindNames) of(what, cell string) string {
	key := [2]string{what, cell}
	name, ok := (*k)[key]
	switch {
	case ok:
		return name
	case len(*k) >= kindsNamed:
		return what + " further ones"
	case *k == nil:
		*k = make(kindNames)
	}
	name = what + " " + rejected.Quote(cell)
	(*k)[key] = name
	return name
}

const (
	// kindAccountLevel is the kind of the account's own rows that are of no other kind.
	kindAccountLevel = "account-level row"
	// accountLevelName is what exports write as the campaign in the account's own rows.
	accountLevelName = "<Account-level>"
)

// accountLevel reports whether a campaign's name stands for the account itself, in any language.
func accountLevel(campaign string) bool {
	return len(campaign) > 2 && strings.HasPrefix(campaign, "<") && strings.HasSuffix(campaign, ">")
}

// readAccountLevel reads one of the account's own rows. A negative becomes the advertiser's, a keyword that may be a
// negative is rejected, and every other row is skipped.
func (s *editorSource) readAccountLevel(e *entry) {
	e.campaign, e.skipped = "", kindAccountLevel
	if !s.row.filled(colKeyword) {
		return
	}
	s.row.layout.cell[colStatus] = s.row.layout.statusOf[ofKeyword]
	text, matchType := values.Unwrap(s.row.text(colKeyword))
	of := values.Positive
	if c := s.typeColumn(); s.row.filled(c) {
		var err error
		of, matchType, err = values.ParseType(s.row.text(c), matchType)
		s.row.note(c, err)
	}
	if of == values.Positive {
		s.refuseNegative(e)
	} else {
		e.kind, e.skipped = kindAdvertiserNegative, ""
		s.row.note(colKeyword, checkSpreadsheet(text))
		e.negative = backend.NegativePatch{Text: text, Words: s.joinedWords(text), Type: matchType, Status: s.row.status(colStatus)}
		s.advertiserAny(&e.advertiserPatch)
	}
	if e.reject != nil || s.row.err != nil {
		e.skipped = ""
	}
	s.refuse(e)
}

// Kinds of records that hold no data of their own.
const (
	kindEmptyRow = "empty row"
	kindHeader   = "repeated header"
	kindTotal    = "total"
)

// noData returns the kind of a record that holds no data, or "" if it holds data.
func (s *editorSource) noData() string {
	first := 0
	for first < len(s.row.cells) && len(s.row.cellAt(first)) == 0 {
		first++
	}
	switch {
	case first == len(s.row.cells):
		return kindEmptyRow
	case s.repeatsHeader(first):
		return kindHeader
	case totals(s.row.cellAt(first)) && !s.row.filled(colAdType) && !s.row.anyHeadline() && dashless(string(s.row.cell(colKeyword))) == "" &&
		!(first == s.row.layout.cell[colAccount] && s.row.filled(colCampaign)): // an advertiser may have that name
		return kindTotal
	}
	return ""
}

// repeatsHeader reports whether the record is the header again, as in files that were joined together.
func (s *editorSource) repeatsHeader(first int) bool {
	text := func(i int) []byte {
		return bytes.TrimSpace(bytes.TrimPrefix(s.row.cells[i], textfile.BOM)) // each joined file may begin with a byte order mark
	}
	if len(s.row.cells) != s.row.layout.width() || !bytes.EqualFold(text(first), s.row.layout.headers[first]) {
		return false
	}
	for i := first + 1; i < len(s.row.cells); i++ {
		if values.Plain(string(text(i))) != values.Plain(string(s.row.layout.headers[i])) {
			return false
		}
	}
	return true
}

// totals reports whether a row's first filled cell is that of a row of totals, with which reports end.
func totals(cell []byte) bool {
	const total = "total"
	if len(cell) < len(total) || !bytes.EqualFold(cell[:len(total)], []byte(total)) {
		return false
	}
	rest := cell[len(total):]
	return len(rest) == 0 || rest[0] == ':' || bytes.HasPrefix(rest, []byte(" -"))
}
