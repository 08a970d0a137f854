package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// table writes rows of aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(head...)
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	// The writer keeps everything until flush, whose error says it all.
	_, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

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
