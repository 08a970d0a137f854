package tsv

import (
	"strings"
	"testing"
)

// TestNoFormulas: no cell of a report begins like a formula, whatever names, texts and values it quotes. Removing one
// apostrophe restores the text.
func TestNoFormulas(t *testing.T) {
	for _, s := range []string{"", "-", "a", "a=b", "12", "=1", "+1", "-1", "@a", "\t=1", "\r", "\tx", "\nx", " =1", "\u00a0=1", "＝1", "＠a", "'a", "''", `"=1"`, `"x`, "-x.csv"} {
		cell := Safe(s)
		if strings.ContainsAny(cell, "\t\r\n") {
			t.Errorf("%q: %q leaves its cell", s, cell)
		}
		first := strings.TrimSpace(cell)
		if cell != "-" && first != "" && startsFormula([]rune(first)[0]) && cell[0] != '\'' {
			t.Errorf("%q: %q begins like a formula", s, cell)
		}
		if s != "" && strings.ContainsAny(s[:1], "\t\r\n") && cell[0] != '\'' {
			t.Errorf("%q: %q", s, cell)
		}
		if back := strings.TrimPrefix(cell, "'"); back != plainCell(s) {
			t.Errorf("%q: %q gives back %q", s, cell, back)
		}
	}
}
