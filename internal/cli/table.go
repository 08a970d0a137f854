package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table writes rows of aligned columns, with unaligned notes in between. Nothing follows the last cell of a row that is not empty.
type table struct {
	out   io.Writer
	rows  [][]string // a note is a row of one cell
	width []int
}

func newTable(out io.Writer, head ...string) *table {
	t := &table{out: out, width: make([]int, len(head))}
	t.row(head...)
	return t
}

// row adds as many cells as the head has.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
		t.width[i] = max(t.width[i], utf8.RuneCountInString(cells[i]))
	}
	t.rows = append(t.rows, cells)
}

// note adds a line that belongs to the row above it.
func (t *table) note(text string) { t.rows = append(t.rows, []string{"    " + printable(text)}) }

// flush writes the table.
func (t *table) flush() error {
	const gap = "  "
	var b strings.Builder
	for _, cells := range t.rows {
		var line strings.Builder
		for i, c := range cells {
			line.WriteString(c)
			if i+1 < len(cells) {
				line.WriteString(strings.Repeat(" ", t.width[i]-utf8.RuneCountInString(c)) + gap)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// mostListed is how many entries of a long list are shown.
const mostListed = 15

// showMore writes below a list how many of n are not shown.
func showMore(s Streams, indent string, n int, thing string) {
	if n > mostListed {
		fmt.Fprintf(s.Out, "%sand %s; --json shows them\n", indent, many(uint64(n-mostListed), "more "+thing))
	}
}

// printable makes advertisers' text harmless on a terminal: what is not
// printable becomes a space.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// cut shortens a cell to n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// money writes micros with at least two decimals: 1508572 is 1.508572 and
// 10000 is 0.01.
func money(micros uint64) string {
	const unit = 1_000_000
	decimals := strings.TrimRight(fmt.Sprintf("%06d", micros%unit), "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return strconv.FormatUint(micros/unit, 10) + "." + decimals
}

// size writes bytes in binary units.
func size(bytes uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(bytes), 0
	for ; v >= 1024 && i+1 < len(units); i++ {
		v /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
