// Package rejected has the rows of files that an import rejects, and the report of them.
package rejected

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adshard/ingest/tsv"
)

// Listed is the most rows of each kind that a summary lists.
const Listed = 10

// Row is a row that was not imported. It changed nothing.
type Row struct {
	File string
	// Record is the number of the record, counted from the header, which is 1. In JSON lines it is the number of the
	// line, counted from 1.
	Record int64
	// Column is the first column at fault in the order of docs/import.md, by its main name there; in JSON lines it is
	// the field. It is "" if the row as a whole cannot be read.
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

// QuotedRunes is the most characters of a cell that a report quotes.
const QuotedRunes = 60

// Quote returns a value for a report: bounded, in quotes, with the characters that do not print escaped.
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

// Found returns a reason with the value at fault appended, if there is a value.
func Found(why, value string) string {
	if value == "" || strings.Contains(why, Quote(value)) {
		return why
	}
	return why + " (found " + Quote(value) + ")"
}

// Writer writes rows as tab-separated lines without a header: file,
// row, column, reason.
type Writer struct {
	w *bufio.Writer // nil if there is no report
}

// NewWriter returns a Writer that writes to w, or drops the rows if w is nil.
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
