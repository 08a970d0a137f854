package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// wide returns a table of 104 characters, printed for a terminal of the given columns; without a terminal no cell is
// broken.
func wide(columns int) string {
	out := &Frame{Columns: columns}
	t := NewTable(out, "#", "AD", "KEYWORD", "WHY")
	t.Row("1", "Příliš žluťoučký kůň z Acme", "usb cable", strings.Repeat("it has lost to ", 3)+"keyword 17")
	t.Comment("a note of the row above, which is longer than the terminal and is left as it is, in one line")
	t.Row("2", strings.Repeat("x", 40), "cable", "won")
	if err := t.Flush(); err != nil {
		panic(err)
	}
	return out.String()
}

func TestTablesFitTheTerminal(t *testing.T) {
	whole := wide(0)
	if n := strings.Count(whole, "\n"); n != 4 {
		t.Errorf("%d lines without a terminal:\n%s", n, whole)
	}
	for _, columns := range []int{60, 80, 100} {
		narrow := wide(columns)
		for line := range strings.Lines(narrow) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && !strings.HasPrefix(line, "    a note") {
				t.Errorf("%d characters in %d: %s", n, columns, line)
			}
		}
		if got, want := strings.Count(narrow, "x"), strings.Count(whole, "x"); got != want {
			t.Errorf("%d of %d characters of a long word:\n%s", got, want, narrow)
		}
		for _, word := range strings.Fields("žluťoučký kůň Acme lost keyword 17 won") {
			if strings.Count(narrow, word) != strings.Count(whole, word) {
				t.Errorf("%q is broken or gone in %d:\n%s", word, columns, narrow)
			}
		}
	}
}

// TestTablesThatCannotFit: tables that cannot fit get their narrowest columns, and the layout ends.
func TestTablesThatCannotFit(t *testing.T) {
	narrow := wide(10)
	if first, _, _ := strings.Cut(narrow, "\n"); utf8.RuneCountInString(first) > 60 || !strings.Contains(narrow, "won") {
		t.Errorf("%s", narrow)
	}
}

func TestBarsAreNotBroken(t *testing.T) {
	out := &Frame{Columns: 40}
	table := NewTable(out, "SLAVE", "", "TROUBLE")
	table.NoWrap(1)
	table.Row("slave-0", Bar(2.5), "it cannot reach the balancer, and has not for a minute")
	if err := table.Flush(); err != nil || !strings.Contains(out.String(), Bar(2.5)) || strings.Count(out.String(), "\n") < 5 {
		t.Errorf("%v\n%s", err, out)
	}
}
