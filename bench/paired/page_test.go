package paired

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/page/pagetest"
)

// joined returns a result for two numbers of keywords, with setups by matches.
func joined(t *testing.T) *Result {
	t.Helper()
	all := &Result{Runs: []Made{{Command: "adbench search <now>", Machine: "m", Date: "d", Commit: "c0ffee1", Notes: []string{"a note"}}}}
	for _, n := range []int{60, 600} {
		p := smallPlan(t, &fake{name: "served", provides: providesAll, took: time.Duration(n) * time.Microsecond, changes: true, disk: 10},
			&fake{name: Floor, provides: providesAll, took: time.Microsecond})
		p.Set, p.Peers = smallSet(n), []layouts.Layout{&fake{name: "lucene", absent: true}, &fake{name: "p&q", provides: providesAll, took: time.Millisecond}}
		p.Setups = []layouts.Setup{smallSetup("matches 10", 3), smallSetup("matches 1000", 7)}
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(r)
	}
	return all
}

func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := joined(t).WritePage(&page); err != nil {
		t.Fatal(err)
	}
	title := pagetest.Check(t, page.String())
	if want := "Keyword search: served beside 2 others; matches 10 (3 queries), matches 1000 (7 queries); 60, 600 keywords"; title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	for _, want := range []string{"adbench search &lt;now&gt;", "Left out: lucene", "Growth with the keywords", "Growth with the matches",
		"60 keywords, matches 10", "p&amp;q", "<svg", "a note"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, want := range []string{"Fastest in 4 comparisons", `<tr class="group"><th colspan="`, ">other systems<", "commit c0ffee1 · d · m", "load before: not recorded"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestBest checks that neither the floor nor a layout that finds less is the
// best.
func TestBest(t *testing.T) {
	r := &Result{Runs: []Made{{Command: "x"}}, Rows: []Row{
		{Name: Mixed, Setup: "log", QueriesPerSecond: 500, P50: 1, P99: 1, Queries: 1, Matches: 1},
		{Name: Floor, Setup: "log", QueriesPerSecond: 900, P50: 1, P99: 1, Queries: 1, Matches: 1},
		{Name: "served", Setup: "log", QueriesPerSecond: 300, P50: 3, P99: 9, Queries: 1, Matches: 1},
		{Name: "lucene", Peer: true, Setup: "log", QueriesPerSecond: 2, P50: 50, P99: 90, Queries: 1, Matches: 1},
	}}
	var out bytes.Buffer
	if err := r.WritePage(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<td class="best">300</td>`, "served is the fastest, 300 queries/s, p99 9 µs, 150 times as fast as lucene"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Count(out.String(), `class="best"`) != 3 {
		t.Error("not three cells are the best: throughput, p50 and p99 of served")
	}
}

func TestTable(t *testing.T) {
	r := joined(t)
	var out bytes.Buffer
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"× floor", "× p&q", "600 keywords, matches 1000: 7 different queries", "left out: lucene: ", "bytes a keyword"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if len(r.Absent) != 1 {
		t.Errorf("the same is absent %d times", len(r.Absent))
	}
	growth := r.byKeywords()
	if want := []string{"served", "matches 10", "60", "", "600", "10"}; !slices.Equal(growth.Rows[1], want) {
		t.Errorf("growth %q, want %q", growth.Rows[1], want)
	}
	if rows := r.byMatches().Rows; len(rows) != 1+2*2*3 || rows[1][0] != "served" || rows[1][4] != "1" {
		t.Errorf("growth with the matches: %q", rows)
	}
}
