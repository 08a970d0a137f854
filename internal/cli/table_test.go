package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"adshard/internal/node/httpapi/api"
)

// wide is a table of 104 characters; without a terminal no cell is broken.
func wide(columns int) string {
	out := &frame{columns: columns}
	t := newTable(out, "#", "AD", "KEYWORD", "WHY")
	t.row("1", "Příliš žluťoučký kůň z Acme", "usb cable", strings.Repeat("it has lost to ", 3)+"keyword 17")
	t.note("a note of the row above, which is longer than the terminal and is left as it is, in one line")
	t.row("2", strings.Repeat("x", 40), "cable", "won")
	if err := t.flush(); err != nil {
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

// TestTablesThatCannotFit are left with their narrowest columns, and end.
func TestTablesThatCannotFit(t *testing.T) {
	narrow := wide(10)
	if first, _, _ := strings.Cut(narrow, "\n"); utf8.RuneCountInString(first) > 60 || !strings.Contains(narrow, "won") {
		t.Errorf("%s", narrow)
	}
}

func TestBarsAreNotBroken(t *testing.T) {
	out := &frame{columns: 40}
	table := newTable(out, "SLAVE", "", "TROUBLE")
	table.keep(1)
	table.row("slave-0", bar(2.5), "it cannot reach the balancer, and has not for a minute")
	if err := table.flush(); err != nil || !strings.Contains(out.String(), bar(2.5)) || strings.Count(out.String(), "\n") < 5 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSlavesFitTheTerminal: rows are within 80 columns; what has no room in them is below, and no narrower terminal or longer
// name loses anything but bars.
func TestSlavesFitTheTerminal(t *testing.T) {
	list := &api.SlaveList{View: 42, Clock: 9000, Slaves: []api.Slave{
		{Name: "slave-0", Address: "10.0.0.1:7100", Alive: true, Serving: true, State: api.SlaveStateActive, Slices: 5, MovingOut: 1, SharePermille: 400, OverMean: 1.8,
			Groups: 120_000, Keywords: 34_000_000, Bytes: 9 << 30, AppliedClock: 9000},
		{Name: "slave-1", Address: "10.0.0.2:7100", State: api.SlaveStateActive, Slices: 1, SharePermille: 250, OverMean: 0.4, Groups: 300, Keywords: 9000, Bytes: 2 << 20,
			AppliedClock: 7000, Trouble: "the disk is full, and it cannot take what it is to take until somebody makes room on it"},
	}}
	shown := func(columns int) string {
		out := &frame{columns: columns}
		if err := showSlaves(Streams{Out: out}, list); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	words := strings.Fields(strings.NewReplacer("│", "", "█", "").Replace(shown(0)))
	if !strings.Contains(shown(160), "│") || shown(300) != shown(0) {
		t.Errorf("bars are gone where there is room:\n%s", shown(160))
	}
	for _, shards := range []string{"", "shard-0"} {
		for i := range list.Slaves {
			list.Slaves[i].Shard = shards
		}
		for _, columns := range []int{80, 100, 120} {
			got := shown(columns)
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
					t.Errorf("%d characters in %d: %s", n, columns, line)
				}
			}
			for _, w := range words {
				if !strings.Contains(got, w) {
					t.Errorf("%q is gone in %d:\n%s", w, columns, got)
				}
			}
		}
	}
}
