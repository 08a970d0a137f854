// Package tsv writes and recognises the reports of imports: tab-separated lines
// that people open in spreadsheets, so that no cell may begin like a formula.
package tsv

import (
	"bufio"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line joins cells to a line.
func Line(cells ...string) string {
	for i, cell := range cells {
		cells[i] = Safe(cell)
	}
	return strings.Join(cells, "\t") + "\n"
}

// Safe keeps a text within its cell of a tab-separated line, and from being
// taken for a formula by a program that opens the report: a text whose first
// character (white space aside) could begin one gets an apostrophe in front. So
// does one that begins with a quote, which such programs take off first, or
// with an apostrophe, so that one apostrophe can always be taken off again.
func Safe(s string) string {
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

// All reports whether all of r is lines of which is says so; n is the line's number, from 0.
func All(r io.Reader, is func(n int, line string) bool) bool {
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
