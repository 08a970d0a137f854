package ingest

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cellsOf joins the cells of a line of a report.
func cellsOf(cells ...string) string {
	for i, cell := range cells {
		cells[i] = safeCell(cell)
	}
	return strings.Join(cells, "\t") + "\n"
}

// safeCell keeps a text within its cell of a tab-separated line, and from being
// taken for a formula by a program that opens the report: a text whose first
// character (white space aside) could begin one gets an apostrophe in front. So
// does one that begins with a quote, which such programs take off first, or
// with an apostrophe, so that one apostrophe can always be taken off again.
func safeCell(s string) string {
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

// IsReport reports whether r is empty or a report that an import wrote to
// Options.Rejects or Options.Conflicts. Errors: those of r.
func IsReport(r io.Reader) (bool, error) {
	lines := bufio.NewReaderSize(r, maxReportLine)
	names := fieldNames[:]
	for c := range columns {
		names = append(names, c.String())
	}
	conflicts := false
	for first := true; ; first = false {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return true, nil
		case err == io.EOF, errors.Is(err, bufio.ErrBufferFull):
			return false, nil
		case err != nil:
			return false, err
		}
		text := string(line)
		if first && text == conflictsHeader {
			conflicts = true
			continue
		}
		cells := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
		if conflicts && len(cells) != conflictsCells || !conflicts && !isReject(cells, names) {
			return false, nil
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
		strings.HasPrefix(cells[3], errUnknownField.Error())
}
