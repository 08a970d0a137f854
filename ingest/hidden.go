package ingest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/ingest/rejected"
	"adshard/ingest/values"
	"adshard/search"
)

// hint is what an unused cell may say about its row. A cell that calls the row a negative is found by saysNegative,
// too.
type hint uint8

const (
	noHint hint = iota
	hintNegative
	hintNarrow // a match type narrower than broad
	hintTotal  // a budget for longer than a day
	hintOver   // not to be shown: paused, removed, over or disapproved

	hintRefused // in a status column: not to be shown; in other columns the word may mean anything
	hintShown   // in a status column: shown
	hintNot     // before hintShown: together they mean hintRefused

	hintActive // of a heading: shown if the cell says yes
	hintEnd    // of a heading: shown until the day in the cell
	hintStatus // of a heading: the cell is a status of some kind
	hintPeriod // of a heading: the cell is the period of the budget
	hintSilent // of a heading: the cell is a name, a label or a text and restricts nothing
)

var (
	errHiddenNegative = errors.New("this cell is not used, and says that the keyword may be a negative: name it one in a column " +
		"Criterion Type (Negative Broad, Campaign Negative Exact, …), or empty this cell")
	errHiddenExclusion = errors.New("this cell is not used, and says that the place may be excluded: write Negative in a column Criterion Type, or empty this cell")

	errHiddenType = errors.New("this cell is not used, and says that the keyword may not be broad: name the column Criterion Type, " +
		"with Broad, Phrase or Exact in it, or empty this cell")
	errHiddenStatus = errors.New("this cell is not used, and says that the row's subject may be paused, removed, over or disapproved: say so in the column of " +
		"its status (Campaign Status, Ad Group Status, Status), or empty this cell")
	errHiddenPeriod = errors.New("this cell is not used, and says that the budget may not be that of a day: write the budget of a day, and Daily here, " +
		"or empty this cell")
	errMinus = errors.New("a minus in front may mark a negative: name it one in a column Criterion Type (Negative Broad, …), " +
		"or remove the minus")
)

// hintOf returns the hint that the first or last word of a short cell gives.
func hintOf(cell []byte) hint {
	const longest, separators = 40, " _;,|:("
	if len(cell) < len("off") || len(cell) > longest || len(cell) < len("ended") && cell[0] < 'A' {
		return noHint
	}
	i := bytes.IndexAny(cell, separators)
	if i < 0 {
		return hintOfWord(cell)
	}
	first, last := hintOfWord(cell[:i]), hintOfWord(bytes.TrimSuffix(cell[bytes.LastIndexAny(cell, separators)+1:], []byte(")")))
	switch {
	case first == hintNot && last == hintShown:
		return hintRefused
	case first == noHint || first == hintNot || first == hintShown:
		return last
	}
	return first
}

func hintOfWord(word []byte) hint {
	var low [len("disapproved")]byte
	if len(word) < len("off") || len(word) > len(low) || word[0] < 'A' {
		return noHint
	}
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	switch string(low[:len(word)]) {
	case "negative", "negatives", "neg", "exclude", "excluded", "excluding", "exclusion", "block", "blocked", "minus":
		return hintNegative
	case "exact", "phrase":
		return hintNarrow
	case "pause", "paused", "remove", "removed", "delete", "deleted", "archive", "archived", "ended", "expired", "inactive", "suspended", "stopped":
		return hintOver
	case "off", "disabled", "disapproved", "rejected", "ineligible", "draft", "canceled", "cancelled", "completed", "finished", "denied":
		return hintRefused
	case "active", "approved", "delivering", "eligible", "enabled", "live", "published", "running", "serving", "shown":
		return hintShown
	case "not":
		return hintNot
	}
	return noHint
}

// refuseHidden rejects a row that a cell in an unused column may restrict, since no bid may be made on what was meant
// to be excluded, narrower or not shown. The used cells have been read before.
func (s *editorSource) refuseHidden(e *entry) {
	if e.kind == kindKeyword {
		s.refuseNegative(e)
	}
	may := s.mayBe(e)
	for _, i := range s.row.layout.hinting {
		cell := s.row.cellAt(i)
		if len(cell) == 0 || e.reject != nil {
			continue
		}
		d := hintOf(cell)
		if heading := s.row.layout.flags[i]; heading != noHint && !may.has(d) {
			d = s.flagged(heading, cell, d)
		}
		switch {
		case !may.has(d):
		case d == hintNegative && e.kind == kindLocation:
			s.refuseAt(e, i, errHiddenExclusion)
		case d == hintNegative:
			s.refuseAt(e, i, errHiddenNegative)
		case d == hintNarrow:
			s.refuseAt(e, i, errHiddenType)
		case d == hintTotal:
			s.refuseAt(e, i, errHiddenPeriod)
		case d == hintOver:
			s.refuseAt(e, i, errHiddenStatus)
		}
	}
}

// hints is a set of hints.
type hints uint16

func (h hints) has(d hint) bool { return h>>d&1 == 1 }

func (h *hints) add(d hint, is bool) {
	if is {
		*h |= 1 << d
	}
}

// mayBe returns the hints that would change what the row says.
func (s *editorSource) mayBe(e *entry) (may hints) {
	status := backend.Remove
	switch e.kind {
	case kindCampaign:
		status = e.campaignPatch.Status
	case kindGroup:
		status = e.groupPatch.Status
	case kindKeyword:
		status = e.keyword.Status
		may.add(hintNegative, true)
		may.add(hintNarrow, e.keyword.Type == search.Broad && !s.row.filled(s.typeUsed()))
	case kindAd:
		status = e.ad.Status
	case kindLocation:
		if status = backend.Keep; e.location.removes {
			status = backend.Remove
		}
		may.add(hintNegative, !e.location.Exclude)
	}
	may.add(hintTotal, e.campaignPatch.DailyBudget.Op == backend.Set)
	may.add(hintOver, status == backend.Keep || status == backend.Enable)
	return may
}

// typeUsed returns the column that gave the criterion type of the row.
func (s *editorSource) typeUsed() column {
	if s.types == typesOfCriteria && s.row.filled(colType) {
		return colType
	}
	return colCriterionType
}

// refuseNegative rejects a positive keyword if any unused cell of its row calls it a negative.
func (s *editorSource) refuseNegative(e *entry) {
	for _, i := range s.records.Filled {
		if i >= s.row.layout.width() || s.row.isText(i) || !saysNegative(s.row.cells[i]) {
			continue
		}
		s.refuseAt(e, i, errHiddenNegative)
		return
	}
}

func (s *editorSource) refuseAt(e *entry, i int, why error) {
	e.reject = &rejected.Row{File: s.file, Record: e.record, Column: s.row.layout.header(i), Reason: rejected.Found(why.Error(), string(bytes.TrimSpace(s.row.cellAt(i))))}
}

// checkMinus returns an error if a positive keyword has a minus in front, as people write negatives. A row is
// accepted if it gives the criterion type under the heading that exports use.
func (s *editorSource) checkMinus(text string) error {
	switch {
	case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "–") && !strings.HasPrefix(text, "—") && !strings.HasPrefix(text, "−"):
		return nil
	case s.row.filled(colCriterionType) && values.Plain(s.row.layout.header(s.row.layout.cell[colCriterionType])) == values.Plain(colCriterionType.String()):
		return nil
	}
	return errMinus
}

// hintOfHeading returns what a heading says about the rows whose cell says yes. The heading is as values.Plain
// returns it.
func hintOfHeading(heading string) hint {
	heading = strings.TrimPrefix(strings.TrimSuffix(heading, "?"), "is")
	switch heading {
	case "active", "enabled", "live", "on", "on/off", "running", "serving", "eligible", "approved":
		return hintActive
	case "exact", "phrase": // the column may hold numbers of searches
		return noHint
	}
	if saysNegative([]byte(heading)) {
		return hintNegative
	}
	switch d := hintOfWord([]byte(heading)); {
	case d == hintRefused || slices.Contains(stopHeadings, heading) || strings.HasPrefix(heading, "donot") || strings.HasPrefix(heading, "dont"):
		return hintOver
	case d != noHint && d <= hintOver:
		return d
	case slices.Contains(endHeadings, heading):
		return hintEnd
	}
	for _, of := range []string{"on", "at", "date", "time", "by"} { // Removed on
		if verb, ok := strings.CutSuffix(heading, of); ok && hintOfWord([]byte(verb)) == hintOver {
			return hintOver
		}
	}
	for _, of := range headingHints {
		if name := withoutUnit(heading); strings.HasSuffix(name, of.part) || of.within && strings.Contains(name, of.part) {
			return of.hint
		}
	}
	return noHint
}

// headingHints lists parts of headings with their hints. A part is the end of a heading or, if `within` is set, may
// be anywhere in it. The first match wins.
var headingHints = []struct {
	part   string
	within bool
	hint   hint
}{
	{endHeading, false, hintEnd}, {"budgettype", false, hintPeriod}, {"budgetperiod", false, hintPeriod},
	{"status", true, hintStatus}, {"state", false, hintStatus}, {"approval", true, hintStatus}, {"eligibility", true, hintStatus},
	{"policy", true, hintStatus}, {"editorial", true, hintStatus},
	{"label", true, hintSilent}, {"tags", false, hintSilent}, {"name", false, hintSilent}, {"names", false, hintSilent}, {"title", true, hintSilent},
	{"headline", true, hintSilent}, {"description", true, hintSilent}, {"text", false, hintSilent}, {"url", true, hintSilent},
}

// endHeading is how headings of end dates end.
const endHeading = "enddate"

// endHeadings are other headings of last days, and startHeadings are headings of first days, both as values.Plain
// returns them.
var (
	endHeadings = []string{"end", "ends", "endson", "endday", "enddatetime", "endtime", "campaignend", "adgroupend", "keywordend", "stopdate", "until",
		"activeuntil", "validuntil", "validto", "expires", "expireson", "expiry", "expirydate", "expiration", "expirationdate"}
	startHeadings = []string{"start", "starts", "startson", "startday", "starttime", "campaignstart", "adgroupstart", "keywordstart", "livefrom", "validfrom", "activefrom", "golive"}
)

// stopHeadings are the headings, other than statuses, of cells that say yes if the row is not to be shown.
var stopHeadings = []string{"stop", "skip", "disable", "hide", "hidden", "ignore", "kill"}

// flagged returns the hint of a cell below a heading; `said` is the hint of the cell alone.
func (s *editorSource) flagged(heading hint, cell []byte, said hint) hint {
	not := false
	switch heading {
	case hintStatus:
		not = said == hintRefused
	case hintActive:
		not = said == hintRefused || !saysYes(cell)
	case hintEnd:
		not = values.ParseEndDate(string(bytes.TrimSpace(cell))).Over(s.now, time.UTC)
	case hintPeriod:
		if !saysDay(cell) {
			return hintTotal
		}
	default:
		if saysYes(cell) {
			return heading
		}
	}
	if not {
		return hintOver
	}
	return noHint
}

// saysDay reports whether a cell says that a budget is daily, or says only who the budget belongs to.
func saysDay(cell []byte) bool {
	plain := values.Plain(string(cell))
	return strings.HasPrefix(plain, "daily") || slices.Contains([]string{"day", "perday", "standard", "individual", "shared", "[]", "", "—"}, plain)
}
