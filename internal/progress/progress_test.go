package progress

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func amount(n uint64) string { return strconv.FormatUint(n, 10) + " B" }

// TestLines: if the output is not a terminal, each step prints a line at once and then one every ten seconds.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := New(&out)
		for i := range 25 {
			l.Count("a", uint64(i), 100, amount)
			time.Sleep(time.Second)
		}
		l.Count("b", 3, 0, amount)
		l.Share("c", -1)
		l.Share("d", 0.5)
		l.Show("e", "more")
		time.Sleep(logEvery)
		l.Show("e", "most")
		l.Show("f", "")
		l.End()
		l.Show("f", "")
		want := `a: 0 %, 0 B of 100 B
a: 10 %, 10 B of 100 B, 1m30s left
a: 20 %, 20 B of 100 B, 1m20s left
b: 3 B
c
d: 50 %
e
e; most
f
f
`
		if out.String() != want {
			t.Errorf("%s\nwant\n%s", out.String(), want)
		}
	})
}

// TestTerminal: on a terminal one line is redrawn, and for a new step at once.
func TestTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := &Line{out: &out, terminal: true}
		l.End() // nothing has been shown
		l.Show("a", "1")
		l.Show("a", "2") // too early
		time.Sleep(redrawEvery)
		l.Show("a", "3")
		l.Show("b", "4")
		l.End()
		if want := clearLine + "a; 1" + clearLine + "a; 3" + clearLine + "b; 4" + clearLine; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	})
}

func TestQuiet(t *testing.T) {
	var out strings.Builder
	l := OnTerminal(&out)
	l.Show("a", "")
	l.Share("a", 0.5)
	l.End()
	if out.Len() > 0 {
		t.Errorf("%q, want nothing: it is not a terminal", out.String())
	}
}
