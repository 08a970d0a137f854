package ingest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Reject is a row that was not imported. It changed nothing.
type Reject struct {
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

// String returns the reject as one sentence.
func (r Reject) String() string {
	if r.Column == "" {
		return fmt.Sprintf("%s: row %d: %s", r.File, r.Record, r.Reason)
	}
	return fmt.Sprintf("%s: row %d, %s: %s", r.File, r.Record, r.Column, r.Reason)
}

// Warning is a warning about a row that was imported.
type Warning struct {
	File   string
	Record int64
	Column string
	Text   string
}

// String returns the warning as one sentence.
func (w Warning) String() string {
	return fmt.Sprintf("%s: row %d, %s: %s", w.File, w.Record, w.Column, w.Text)
}

// quotedRunes bounds the text of a cell that is quoted in a report.
const quotedRunes = 60

// quoted is a value for a report: bounded, in quotes, with all that does not
// print escaped.
func quoted(value string) string {
	runes := 0
	for i := range value {
		if runes++; runes > quotedRunes {
			value = value[:i] + "…"
			break
		}
	}
	return strconv.Quote(value)
}

// found appends the value at fault to a reason, if there is one.
func found(why, value string) string {
	if value == "" || strings.Contains(why, quoted(value)) {
		return why
	}
	return why + " (found " + quoted(value) + ")"
}

// rejectWriter writes rejects as tab-separated lines without a header: file,
// row, column, reason.
type rejectWriter struct {
	w *bufio.Writer // nil: not wanted
}

func newRejectWriter(w io.Writer) rejectWriter {
	if w == nil {
		return rejectWriter{}
	}
	return rejectWriter{bufio.NewWriter(w)}
}

func (w rejectWriter) write(r *Reject) error {
	if w.w == nil {
		return nil
	}
	_, err := w.w.WriteString(cellsOf(r.File, strconv.FormatInt(r.Record, 10), r.Column, r.Reason))
	return err
}

func (w rejectWriter) flush() error {
	if w.w == nil {
		return nil
	}
	return w.w.Flush()
}
