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
}

// skips counts skipped rows by kind.
type skips [len(otherKinds)]int64

func (s *skips) add(more skips) {
	for kind, rows := range more {
		s[kind] += rows
	}
}

// list returns the kinds that occurred, the most frequent first.
func (s *skips) list() []Skipped {
	var list []Skipped
	for kind, rows := range s {
		if rows > 0 {
			list = append(list, Skipped{Kind: otherKinds[kind].name, Rows: rows})
		}
	}
	slices.SortStableFunc(list, func(a, b Skipped) int { return cmp.Compare(b.Rows, a.Rows) })
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
