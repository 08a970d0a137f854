package ingest

import (
	"errors"
	"strings"
)

// kindAccountLevel is the kind of rows that are the account's own, of no other kind.
const kindAccountLevel = "account-level row"

var errAccountNegative = errors.New("a negative of the whole account, which cannot be imported yet: add it to each campaign")

// accountLevel reports whether a campaign's name stands for the account itself, in whatever
// language.
func accountLevel(campaign string) bool {
	return len(campaign) > 2 && strings.HasPrefix(campaign, "<") && strings.HasSuffix(campaign, ">")
}

// readAccountLevel skips a row of the account's own, but rejects what is, or may be, a negative.
func (s *editorSource) readAccountLevel(e *entry) {
	e.skipped = kindAccountLevel
	if !s.filled(colKeyword) {
		return
	}
	if c := s.typeColumn(); s.filled(c) {
		of, _, err := parseType(s.text(c), 0)
		s.note(c, err)
		if of != positive {
			s.note(colCampaign, errAccountNegative)
		}
	}
	if s.refuseNegative(e); e.reject != nil || s.err != nil {
		e.skipped = ""
	}
	s.refuse(e)
}
