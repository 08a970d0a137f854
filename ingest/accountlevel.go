package ingest

import (
	"strings"

	"adshard/backend"
)

const (
	// kindAccountLevel is the kind of rows that are the account's own, of no other kind.
	kindAccountLevel = "account-level row"
	// accountLevelName is what exports call the account in place of a campaign.
	accountLevelName = "<Account-level>"
)

// accountLevel reports whether a campaign's name stands for the account itself, in whatever
// language.
func accountLevel(campaign string) bool {
	return len(campaign) > 2 && strings.HasPrefix(campaign, "<") && strings.HasSuffix(campaign, ">")
}

// readAccountLevel reads a row of the account's own: a negative is the advertiser's, what may be one is
// rejected, all else is skipped.
func (s *editorSource) readAccountLevel(e *entry) {
	e.campaign, e.skipped = "", kindAccountLevel
	if !s.filled(colKeyword) {
		return
	}
	s.layout.cell[colStatus] = s.layout.statusOf[ofKeyword]
	text, matchType := unwrap(s.text(colKeyword))
	of := positive
	if c := s.typeColumn(); s.filled(c) {
		var err error
		of, matchType, err = parseType(s.text(c), matchType)
		s.note(c, err)
	}
	if of == positive {
		s.refuseNegative(e)
	} else {
		e.kind, e.skipped = kindAdvertiserNegative, ""
		s.note(colKeyword, checkSpreadsheet(text))
		e.negative = backend.NegativePatch{Text: text, Words: s.joinedWords(text), Type: matchType, Status: s.status(colStatus)}
		e.advertiserPatch.TimeZone = patch(s, colTimeZone, s.zones.parse)
	}
	if e.reject != nil || s.err != nil {
		e.skipped = ""
	}
	s.refuse(e)
}
