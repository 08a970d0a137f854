package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestWellFormed: whatever is drawn, the SVG is XML without numbers that are
// none.
func TestWellFormed(t *testing.T) {
	line := Line{Name: `a <b> & "c"`, X: []float64{0, 1, 2}, Y: []float64{1, 50, 3}, Dashed: true}
	for name, c := range map[string]Chart{
		"empty":    {},
		"one":      {Title: "<&>", XLabel: "x", Lines: []Line{line}, Marks: []float64{1}},
		"many":     {Lines: []Line{line, line, line, line, line, line, line, line, line, line, line, line, line}},
		"zeros":    {Lines: []Line{{X: []float64{0, 0}, Y: []float64{0, 0}}}},
		"point":    {Lines: []Line{{X: []float64{5}, Y: []float64{1e7}}}},
		"steps":    {Lines: []Line{line}, Steps: []float64{0, 1, 2}},
		"beyond":   {Lines: []Line{line}, Top: 2},
		"tiny":     {Lines: []Line{{X: []float64{0, 1}, Y: []float64{1e-7, 2e-7}}}},
		"no line":  {Lines: []Line{{Name: "none"}}},
		"far away": {Lines: []Line{{X: []float64{1e9, 1e9 + 1}, Y: []float64{1, 2}}}},
		"log":      {Lines: []Line{line}, Log: true},
		"log of 0": {Lines: []Line{{X: []float64{0, 1}, Y: []float64{0, 0}}}, Log: true},
	} {
		wellFormed(t, name, c.SVG())
	}
	bar := Bar{Name: "<a>", Label: "5 & more", Value: 5, To: 8, Least: 4, Most: 9}
	for name, c := range map[string]Bars{
		"no bars": {}, "bars": {Title: "<&>", Unit: "x", Bars: []Bar{bar, {}}}, "log bars": {Log: true, Bars: []Bar{bar, {Value: 1e7}, {}}},
		"no values": {Log: true, Bars: []Bar{{Name: "a"}}},
	} {
		wellFormed(t, name, c.SVG())
	}
}

func wellFormed(t *testing.T, name, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, svg)
		}
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || len(svg) > 100_000 {
		t.Errorf("%s: %d bytes: %.300s", name, len(svg), svg)
	}
}

func TestTicks(t *testing.T) {
	for _, top := range []float64{0.003, 1, 1.9, 4, 9.9, 10, 100, 12345} {
		list := ticks(top)
		if len(list) < 3 || len(list) > 12 || list[len(list)-1] > top {
			t.Errorf("ticks up to %v: %v", top, list)
		}
	}
}
