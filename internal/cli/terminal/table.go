package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"adshard/internal/cli/cmdline"
)

// table writes rows of aligned columns, with unaligned notes in between. It leaves out empty cells at the end of a
// row. On a terminal it wraps long cells so that rows fit; only bars are left out.
type table struct {
	out   io.Writer
	rows  [][]string // a note is a row of one cell
	width []int
	whole map[int]bool // columns whose cells are never wrapped
	spare []int        // columns that may be taken out of the rows, the first one first
}

// NewTable returns a table with a header.
func NewTable(out io.Writer, head ...string) *table {
	t := &table{out: out, width: make([]int, len(head)), whole: make(map[int]bool)}
	t.Row(head...)
	return t
}

// NewList returns a table with this number of columns and no header.
func NewList(out io.Writer, columns int) *table { return &table{out: out, width: make([]int, columns)} }

// Empty reports whether there is no row below the header.
func (t *table) Empty() bool { return len(t.rows) < 2 }

// Row adds a row, which must have as many cells as the header.
func (t *table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Printable(c)
		t.width[i] = max(t.width[i], utf8.RuneCountInString(cells[i]))
	}
	t.rows = append(t.rows, cells)
}

// Comment adds a line that belongs to the row above it.
func (t *table) Comment(text string) { t.rows = append(t.rows, []string{"    " + Printable(text)}) }

// NoWrap keeps each cell of a column on one line. Half a bar would be misleading.
func (t *table) NoWrap(column int) { t.whole[column] = true }

// MayLeave names columns that may be taken out of rows that are too long, in this order. Their cells then appear
// below the rows. Bars, which have no column name, are dropped.
func (t *table) MayLeave(columns ...int) { t.spare = columns }

// Flush writes the table.
func (t *table) Flush() error {
	columns := columnsOf(t.out)
	t.shed(columns)
	t.fit(columns)
	var b strings.Builder
	for _, cells := range t.rows {
		t.write(&b, cells)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

const (
	gap = "  " // between columns
	// leastWidth is the smallest width of a column. In narrower columns words and addresses would be broken.
	leastWidth = 15
)

// shed takes out as few optional columns as possible if the rows do not fit otherwise. If columns is 0, rows may have
// any number of characters.
func (t *table) shed(columns int) {
	least := -len(gap)
	for i := range t.width {
		least += len(gap) + t.least(i)
	}
	gone := make(map[int]bool)
	for _, i := range t.spare {
		if columns == 0 || least <= columns {
			break
		}
		gone[i] = true
		least -= len(gap) + t.least(i)
	}
	if len(gone) > 0 {
		t.without(gone, columns)
	}
}

// least returns the smallest possible width of a column.
func (t *table) least(column int) int {
	if t.whole[column] {
		return t.width[column]
	}
	return min(t.width[column], leastWidth)
}

// without takes the columns in `gone` out of the rows.
func (t *table) without(gone map[int]bool, columns int) {
	all, head, whole := t.rows, t.rows[0], t.whole
	t.rows, t.width, t.whole = nil, make([]int, len(head)-len(gone)), make(map[int]bool)
	for n, cells := range all {
		if len(cells) != len(head) { // a note
			t.rows = append(t.rows, cells)
			continue
		}
		var stay, below []string
		for i, c := range cells {
			switch {
			case !gone[i]:
				t.whole[len(stay)] = whole[i]
				stay = append(stay, c)
			case n > 0 && head[i] != "" && c != "":
				below = append(below, head[i]+" "+c)
			}
		}
		t.Row(stay...)
		for rest := strings.Join(below, gap); rest != ""; {
			var line string
			line, rest = broken(rest, max(leastWidth, columns-len("    ")))
			t.Comment(line)
		}
	}
}

// fit narrows the widest columns until the rows fit, if possible. If columns is 0, rows may have any number of
// characters.
func (t *table) fit(columns int) {
	if columns == 0 {
		return
	}
	total := len(gap) * (len(t.width) - 1)
	for _, w := range t.width {
		total += w
	}
	for ; total > columns; total-- {
		widest := -1
		for i, w := range t.width {
			if w > leastWidth && !t.whole[i] && (widest < 0 || w > t.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.width[widest]--
	}
}

// write writes a row, which has several lines if a cell is wider than its column.
func (t *table) write(b *strings.Builder, cells []string) {
	if len(cells) != len(t.width) { // a note
		b.WriteString(strings.TrimRight(cells[0], " ") + "\n")
		return
	}
	for more := true; more; {
		more = false
		var line strings.Builder
		rest := make([]string, len(cells))
		for i, c := range cells {
			c, rest[i] = broken(c, t.width[i])
			more = more || rest[i] != ""
			line.WriteString(c)
			if i+1 < len(cells) {
				line.WriteString(strings.Repeat(" ", t.width[i]-utf8.RuneCountInString(c)) + gap)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		cells = rest
	}
}

// broken breaks a text after at most n characters, between words if possible.
func broken(s string, n int) (line, rest string) {
	r := []rune(s)
	if len(r) <= n {
		return s, ""
	}
	end := n
	for end > 0 && r[end] != ' ' {
		end--
	}
	if strings.TrimSpace(string(r[:end])) == "" {
		end = n
	}
	return strings.TrimRight(string(r[:end]), " "), strings.TrimSpace(string(r[end:]))
}

// Frame is what is shown on a terminal at one time.
type Frame struct {
	bytes.Buffer
	Columns int // characters in a line, or 0 for any number
}

// columnsOf returns the number of characters in a line of the terminal, or 0 if there is no terminal.
func columnsOf(out io.Writer) int {
	switch out := out.(type) {
	case *Frame:
		return out.Columns
	case *os.File:
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// MostListed is the most entries of a long list that are shown.
const MostListed = 15

// ShowMore writes below a list of n entries how many of them are not shown.
func ShowMore(s cmdline.Streams, indent string, n int, thing string) {
	if n > MostListed {
		fmt.Fprintf(s.Out, "%sand %s; --json shows them\n", indent, Many(uint64(n-MostListed), "more "+thing))
	}
}

// Printable makes advertisers' text harmless on a terminal: unprintable characters become spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// Cut shortens a cell to n characters.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Size returns a number of bytes in binary units.
func Size(bytes uint64) string {
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

// First returns the first of some texts, or "" if there are none.
func First(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
