package page_test

import (
	"bytes"
	"flag"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/chart"
	"adshard/bench/page"
	"adshard/bench/page/pagetest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/page.html")

// sample returns a page with every kind of content.
func sample() *page.Page {
	rows := [][]page.Cell{page.Cells("served", "3,500", "5.9"), page.Cells("B <b>", "4,302", "74.8"), page.Cells("gone", "–", "–")}
	page.MarkBest(rows, 1, []float64{3500, 4302, math.NaN()}, true)
	page.MarkBest(rows, 2, []float64{5.9, 74.8, math.NaN()}, false)
	rows[2][1].Bad = true
	bars := chart.Bars{Title: "Queries a second", Bars: []chart.Bar{{Name: "served", Value: 3500, Label: "3,500"}}}
	return &page.Page{
		Title: "A & B", Lead: "Asked of two.", Verdict: []string{"B is the faster one.", "It takes longer."},
		Made: []page.Made{
			{Command: `adbench search "<x>"`, Commit: "abc1234", Packages: []string{"barrels", "search"}, About: []string{"2026-11-21", "load 0.10 0.20 0.30"}},
		},
		Notes:    []string{"a note"},
		Sections: []page.Section{{Title: "First", Note: "about it", Tables: []*page.Table{{Title: "T", Note: "n", Header: []string{"", "queries/s", "p50 µs"}, Groups: []page.Group{{Name: "ours", Rows: rows}}}}, Charts: []template.HTML{page.Chart(bars.SVG())}}},
		Terms:    []page.Term{{Word: "floor", Means: "the limit"}},
		Details:  []page.Detail{{Title: "events", Lines: []string{"1s: <slice> moved"}}},
	}
}

// TestGolden pins the page's text.
func TestGolden(t *testing.T) {
	var out bytes.Buffer
	if err := sample().Write(&out); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "page.html")
	if *rewrite {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, out.Bytes()) {
		t.Errorf("the page differs from %s; after a look at it, go test -rewrite:\n%s", golden, out.String())
	}
}

// TestStructure checks what each page promises.
func TestStructure(t *testing.T) {
	var out bytes.Buffer
	if err := sample().Write(&out); err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, out.String())
	for _, want := range []string{`content="commit abc1234; packages barrels search"`, `<td class="best">4,302</td>`, `<td class="best">5.9</td>`, `<td class="bad">–</td>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Count(out.String(), `class="best"`) != 2 {
		t.Error("something else is marked as the best")
	}
}

func TestMarkBest(t *testing.T) {
	one := [][]page.Cell{page.Cells("a", "1")}
	page.MarkBest(one, 1, []float64{1}, true)
	if one[0][1].Best {
		t.Error("a single row is the best")
	}
	equal := [][]page.Cell{page.Cells("1"), page.Cells("1"), page.Cells("2")}
	page.MarkBest(equal, 0, []float64{1, 1, 2}, false)
	if equal[0][0].Best || equal[1][0].Best || equal[2][0].Best {
		t.Errorf("one of two that are alike is the best: %+v", equal)
	}
	shown := [][]page.Cell{page.Cells("1"), page.Cells("1"), page.Cells("2")}
	page.MarkBest(shown, 0, []float64{1, 1.0000001, 2}, false)
	if shown[0][0].Best {
		t.Error("what differs by less than is shown is the best")
	}
}
