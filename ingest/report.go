package ingest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/blocklist"
	"adshard/places"
)

// cellsOf joins the cells of a line of a report.
func cellsOf(cells ...string) string {
	for i, cell := range cells {
		cells[i] = SafeCell(cell)
	}
	return strings.Join(cells, "\t") + "\n"
}

// SafeCell keeps a text within its cell of a tab-separated line, and from being
// taken for a formula by a program that opens the report: a text whose first
// character (white space aside) could begin one gets an apostrophe in front. So
// does one that begins with a quote, which such programs take off first, or
// with an apostrophe, so that one apostrophe can always be taken off again.
func SafeCell(s string) string {
	first, size := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, unicode.IsSpace))
	plain := plainCell(s)
	switch {
	case s == "-": // standard input
	case s != "" && strings.ContainsRune("\t\r\n", rune(s[0])), size > 0 && startsFormula(first):
		return "'" + plain
	}
	return plain
}

// startsFormula reports whether a spreadsheet may take a text that begins with
// r for a formula; some do with the full-width forms too.
func startsFormula(r rune) bool { return strings.ContainsRune("=+-@＝＋－＠\"'", r) }

// plainCell keeps a text within its cell of a tab-separated line.
func plainCell(s string) string {
	if !strings.ContainsAny(s, "\t\r\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, s)
}

// IsRejects reports whether r is empty or a report that an import wrote to Options.Rejects.
func IsRejects(r io.Reader) bool {
	names := fieldNames[:]
	for c := range columns {
		names = append(names, c.String())
	}
	names = append(names, blocklist.FieldAdvertisers, listNames, blocklist.FieldDomains, blocklist.FieldCategories, blocklist.FieldUncategorised)
	for f := range places.Fields {
		names = append(names, f.String())
	}
	return all(r, func(_ int, line string) bool { return isReject(strings.Split(line, "\t"), names) })
}

// IsConflicts reports whether r is empty or a report that an import wrote to Options.Conflicts.
func IsConflicts(r io.Reader) bool {
	return all(r, func(n int, line string) bool {
		if n == 0 {
			return line+"\n" == conflictsHeader
		}
		return strings.Count(line, "\t") == conflictsCells-1
	})
}

// all reports whether all of r is lines that are of a report; n is the line's number.
func all(r io.Reader, is func(n int, line string) bool) bool {
	lines := bufio.NewReaderSize(r, maxReportLine)
	for n := 0; ; n++ {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err == io.EOF && len(line) == 0
		}
		if !is(n, string(line[:len(line)-1])) {
			return false
		}
	}
}

// maxReportLine is more than a line of a report can be: names of some
// kilobytes and reasons that are bounded.
const maxReportLine = 64 << 10

const conflictsCells = 8

// isReject reports whether a line is one that rejectWriter writes.
func isReject(cells, names []string) bool {
	if len(cells) != 4 || !digits(cells[1]) || cells[3] == "" {
		return false
	}
	number, ofCell := strings.CutPrefix(cells[2], "cell ")
	return cells[2] == "" || ofCell && digits(number) || slices.Contains(names, cells[2]) ||
		strings.HasPrefix(cells[3], errUnknownField.Error()) || strings.HasPrefix(cells[3], errHiddenNegative.Error())
}

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
