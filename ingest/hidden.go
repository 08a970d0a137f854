package ingest

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"adshard/backend"
	"adshard/search"
)

// hint is what a cell that is not used may say of its row, beside a negative.
type hint uint8

const (
	noHint hint = iota
	hintNegative
	hintNarrow // a match type narrower than broad
	hintOver   // paused, removed or over
	hintActive // of a heading: shown where the cell says yes
	hintEnd    // of a heading: shown until the cell's day
)

var (
	errHiddenNegative = errors.New("this cell is not used, and says that the keyword may be a negative: name it one in a column " +
		"Criterion Type (Negative Broad, Campaign Negative Exact, …), or empty this cell")
	errHiddenType = errors.New("this cell is not used, and says that the keyword may not be broad: name the column Criterion Type, " +
		"with Broad, Phrase or Exact in it, or empty this cell")
	errHiddenStatus = errors.New("this cell is not used, and says that the row's subject may be paused, removed or over: say so in the column of " +
		"its status (Campaign Status, Ad Group Status, Status), or empty this cell")
	errMinus = errors.New("a minus in front may mark a negative: name it one in a column Criterion Type (Negative Broad, …), " +
		"or remove the minus")
)

// hintOf reports what the first or the last word of a short cell may say.
func hintOf(cell []byte) hint {
	const longest, separators = 40, " _;,|"
	if len(cell) < len("ended") || len(cell) > longest {
		return noHint
	}
	first, last := cell, cell
	if i := bytes.IndexAny(cell, separators); i >= 0 {
		first, last = cell[:i], cell[bytes.LastIndexAny(cell, separators)+1:]
	}
	if d := hintOfWord(first); d != noHint {
		return d
	}
	return hintOfWord(last)
}

func hintOfWord(word []byte) hint {
	var low [len("exclusion")]byte
	if len(word) < len("ended") || len(word) > len(low) {
		return noHint
	}
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	switch string(low[:len(word)]) {
	case "negative", "negatives", "exclude", "excluded", "exclusion":
		return hintNegative
	case "exact", "phrase":
		return hintNarrow
	case "pause", "paused", "remove", "removed", "delete", "deleted", "archive", "archived", "ended", "expired", "inactive", "suspended", "stopped":
		return hintOver
	}
	return noHint
}

// refuseHidden rejects a row that a cell that is not used may restrict: there must be no bid on what was to
// be kept away, more widely than was said, or on what was not to be shown. Cells that are used have been read.
func (s *editorSource) refuseHidden(e *entry) {
	if e.kind == kindKeyword {
		s.refuseNegative(e)
	}
	may := s.mayBe(e)
	for _, i := range s.layout.unnamed {
		cell := s.cellAt(i)
		if len(cell) == 0 || e.reject != nil {
			continue
		}
		d := hintOf(cell)
		if d == noHint {
			d = s.flagged(s.layout.flags[i], cell)
		}
		switch {
		case !may[d]:
		case d == hintNegative:
			s.refuseAt(e, i, errHiddenNegative)
		case d == hintNarrow:
			s.refuseAt(e, i, errHiddenType)
		case d == hintOver:
			s.refuseAt(e, i, errHiddenStatus)
		}
	}
}

// mayBe returns which hints would change what the row says.
func (s *editorSource) mayBe(e *entry) (may [hintOver + 1]bool) {
	status := backend.Remove
	switch e.kind {
	case kindCampaign:
		status = e.campaignPatch.Status
	case kindGroup:
		status = e.groupPatch.Status
	case kindKeyword:
		status = e.keyword.Status
		may[hintNegative] = true
		may[hintNarrow] = e.keyword.Type == search.Broad && !s.filled(s.typeUsed())
	case kindAd:
		status = e.ad.Status
	}
	may[hintOver] = status == backend.Keep || status == backend.Enable
	return may
}

// typeUsed is the column that has said what the row's keyword is.
func (s *editorSource) typeUsed() column {
	if s.types == typesOfCriteria && s.filled(colType) {
		return colType
	}
	return colCriterionType
}

// refuseNegative rejects a positive keyword whose row calls it a negative in any cell that is not used.
func (s *editorSource) refuseNegative(e *entry) {
	for i, cell := range s.cells {
		if len(cell) == 0 || i >= s.layout.width() || s.isText(i) || !saysNegative(cell) {
			continue
		}
		s.refuseAt(e, i, errHiddenNegative)
		return
	}
}

func (s *editorSource) refuseAt(e *entry, i int, why error) {
	e.reject = &Reject{File: s.file, Record: e.record, Column: s.layout.header(i), Reason: found(why.Error(), string(bytes.TrimSpace(s.cellAt(i))))}
}

// checkMinus refuses a positive keyword with a minus in front, by which people write negatives, unless
// the row says what it is as exports do.
func (s *editorSource) checkMinus(text string) error {
	switch {
	case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "–") && !strings.HasPrefix(text, "—") && !strings.HasPrefix(text, "−"):
		return nil
	case s.filled(colCriterionType) && plainName(s.layout.header(s.layout.cell[colCriterionType])) == plainName(colCriterionType.String()):
		return nil
	}
	return errMinus
}

// ownerTypes are headings of columns that say of which kind a row is.
var ownerTypes = []string{"type", "rowtype", "recordtype", "entity"}

// saysOwner reports whether a row calls itself a campaign's or a group's own.
func (s *editorSource) saysOwner() bool {
	at := s.layout.rowType
	if at < 0 {
		return false
	}
	name := plainName(string(s.cellAt(at)))
	return name == "campaign" || name == "adgroup"
}

// hintOfHeading returns what a column says by its heading, as plainName writes it, of rows where it says yes.
func hintOfHeading(heading string) hint {
	heading = strings.TrimPrefix(heading, "is")
	switch heading {
	case "active", "enabled", "live":
		return hintActive
	case "exact", "phrase": // may hold numbers of searches
		return noHint
	}
	switch {
	case saysNegative([]byte(heading)):
		return hintNegative
	case strings.HasSuffix(heading, endHeading):
		return hintEnd
	}
	return hintOfWord([]byte(heading))
}

// endHeading is how headings of days on which something ends end.
const endHeading = "enddate"

// flagged returns what a cell says below a heading.
func (s *editorSource) flagged(heading hint, cell []byte) hint {
	switch heading {
	case noHint:
		return noHint
	case hintActive:
		if !saysYes(cell) {
			return hintOver
		}
		return noHint
	case hintEnd:
		if parseEndDate(string(bytes.TrimSpace(cell))).over(s.now, time.UTC) {
			return hintOver
		}
		return noHint
	}
	if saysYes(cell) {
		return heading
	}
	return noHint
}
