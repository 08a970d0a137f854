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

// Line returns a line of cells.
func Line(cells ...string) string {
	for i, cell := range cells {
		cells[i] = Safe(cell)
	}
	return strings.Join(cells, "\t") + "\n"
}

// Safe returns a text that stays within its cell of a tab-separated line and that a spreadsheet does not take for a
// formula. A text whose first character (white space aside) could begin a formula gets an apostrophe in front. So
// does a text that begins with a quote, which spreadsheets take off first, or with an apostrophe, so that one
// apostrophe can always be taken off again.
func Safe(s string) string {
	first, size := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, unicode.IsSpace))
	plain := plainCell(s)
	switch {
	case s == "-": // means standard input
	case s != "" && strings.ContainsRune("\t\r\n", rune(s[0])), size > 0 && startsFormula(first):
		return "'" + plain
	}
	return plain
}

// startsFormula reports whether a spreadsheet may take a text that begins with r for a formula. Some spreadsheets
// accept the full-width forms, too.
func startsFormula(r rune) bool { return strings.ContainsRune("=+-@＝＋－＠\"'", r) }

// plainCell returns a text that stays within its cell of a tab-separated line.
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

// All reports whether r consists of lines for which `is` returns true; n is the line's number, from 0.
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

// maxReportLine is longer than any line of a report, whose names have a few kilobytes and whose reasons are bounded.
const maxReportLine = 64 << 10
