package ingest

import (
	"cmp"
	"fmt"
	"slices"
)

// counts are the results of the rows of the open transaction.
type counts struct {
	rows, rejected int64
	first          []Reject
	skipped        skips
	warnings       int64
	firstWarnings  []Warning
	contradictions Note
	renamed        int64
	firstRenamed   []Renamed
}

// skips counts skipped rows by kind.
type skips map[string]int64

func (s *skips) add(kind string, rows int64) {
	if *s == nil {
		*s = make(skips)
	}
	(*s)[kind] += rows
}

// list returns the kinds, the most frequent first.
func (s skips) list() []Skipped {
	var list []Skipped
	for kind, rows := range s {
		list = append(list, Skipped{Kind: kind, Rows: rows})
	}
	slices.SortFunc(list, func(a, b Skipped) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Kind, b.Kind)) })
	return list
}

func (w *writer) warn(warning *Warning) {
	w.open.warnings++
	if w.keepsWarning() {
		w.open.firstWarnings = append(w.open.firstWarnings, *warning)
	}
}

func (w *writer) keepsWarning() bool {
	return len(w.run.sum.FirstWarnings)+len(w.open.firstWarnings) < FirstRejects
}

// misspelt warns of a name that was created although a similar one exists.
func (w *writer) misspelt(e *entry, of kind, name, near string) {
	warning := &Warning{}
	if w.keepsWarning() {
		what := "campaign " + quoted(name) + " of " + quoted(e.advertiser)
		if of == kindAdvertiser {
			what = "advertiser " + quoted(name)
		}
		warning = &Warning{File: w.in.name, Record: e.record, Column: w.column(e, of),
			Text: fmt.Sprintf("%s did not exist and was created; did you mean %s?", what, quoted(near))}
	}
	w.warn(warning)
}

// paused tells of a campaign that was paused since it is not for searches any more.
func (w *writer) paused(e *entry) {
	w.warn(&Warning{File: w.in.name, Record: e.record, Column: colCampaignType.String(),
		Text: fmt.Sprintf("campaign %s of %s is no search campaign any more, and paused", quoted(e.campaign), quoted(e.advertiser))})
}

// contradicts notes a row that gives an entity other values than an earlier one.
func (w *writer) contradicts(e *entry, of kind) {
	n := &w.open.contradictions
	if n.Count++; len(n.First) < FirstNotes {
		n.First = append(n.First, fmt.Sprintf("%s: row %d, %s", w.in.name, e.record, e.describe(of)))
	}
}

// describe names an entity of the row.
func (e *entry) describe(of kind) string {
	switch of {
	case kindCampaign:
		return "campaign " + quoted(e.campaign)
	case kindGroup:
		return "ad group " + quoted(e.group)
	}
	return "keyword " + quoted(e.keyword.Text)
}
