// Package rejected is the rows of files that an import refuses, and their report.
package rejected

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adshard/ingest/tsv"
)

// Listed is how many rows at most a summary lists of each kind.
const Listed = 10

// Row is a row that was not imported. It changed nothing.
type Row struct {
	File string
	// Record is the record's number, the header being 1; of JSON lines the
	// line's, the first being 1.
	Record int64
	// Column is the first column at fault in the order of docs/import.md, by
	// its first name there; of JSON lines the field. "" when the row as a
	// whole cannot be read.
	Column string
	Reason string
}

// String returns the row and the reason as one sentence.
func (r Row) String() string {
	if r.Column == "" {
		return fmt.Sprintf("%s: row %d: %s", r.File, r.Record, r.Reason)
	}
	return fmt.Sprintf("%s: row %d, %s: %s", r.File, r.Record, r.Column, r.Reason)
}

// QuotedRunes bounds the characters of a cell that is quoted in a report.
const QuotedRunes = 60

// Quote is a value for a report: bounded, in quotes, with all that does not
// print escaped.
func Quote(value string) string {
	runes := 0
	for i := range value {
		if runes++; runes > QuotedRunes {
			value = value[:i] + "…"
			break
		}
	}
	return strconv.Quote(value)
}

// Found appends the value at fault to a reason, if there is one.
func Found(why, value string) string {
	if value == "" || strings.Contains(why, Quote(value)) {
		return why
	}
	return why + " (found " + Quote(value) + ")"
}

// Writer writes rows as tab-separated lines without a header: file,
// row, column, reason.
type Writer struct {
	w *bufio.Writer // nil: not wanted
}

// NewWriter writes to w; nil: the report is not wanted.
func NewWriter(w io.Writer) Writer {
	if w == nil {
		return Writer{}
	}
	return Writer{bufio.NewWriter(w)}
}

// Write writes a row.
func (w Writer) Write(r *Row) error {
	if w.w == nil {
		return nil
	}
	_, err := w.w.WriteString(tsv.Line(r.File, strconv.FormatInt(r.Record, 10), r.Column, r.Reason))
	return err
}

// Flush writes what is buffered.
func (w Writer) Flush() error {
	if w.w == nil {
		return nil
	}
	return w.w.Flush()
}
