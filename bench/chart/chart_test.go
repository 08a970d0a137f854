package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestWellFormed: whatever is drawn, the SVG is well-formed XML and all its numbers
// are finite.
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
	} {
		wellFormed(t, name, c.SVG())
	}
	bar := Bar{Name: "<a>", Label: "5 & more", Value: 5, To: 8, Least: 4, Most: 9}
	for name, c := range map[string]Bars{
		"no bars": {}, "bars": {Title: "<&>", Unit: "x", Bars: []Bar{bar, {}}}, "far apart": {Bars: []Bar{bar, {Value: 1e7}, {}}},
		"no values": {Bars: []Bar{{Name: "a"}}},
	} {
		wellFormed(t, name, c.SVG())
	}
	box := Box{Name: "<a>", Label: "5 & more", Low: 1, Q1: 2, Median: 3, Q3: 4, High: 9}
	for name, c := range map[string]Boxes{
		"no boxes": {}, "boxes": {Title: "<&>", Unit: "x", Boxes: []Box{box, {}}}, "cut off": {Boxes: []Box{box, {Name: "beyond", Low: 1e7, Q1: 1e7, Median: 1e7, Q3: 1e7, High: 1e7}}, Top: 3.5},
		"zeros": {Boxes: []Box{{Name: "a"}}},
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
		if len(list) < 3 || len(list) > 6 || list[0] != 0 || list[len(list)-1] > top {
			t.Errorf("ticks up to %v: %v", top, list)
		}
	}
}

// TestBarsBeginAtZero checks that a bar of twice the value is twice as long.
func TestBarsBeginAtZero(t *testing.T) {
	svg := (&Bars{Bars: []Bar{{Name: "a", Value: 500_000}, {Name: "b", Value: 1_000_000}}}).SVG()
	var lengths []float64
	for _, m := range regexp.MustCompile(`<rect [^>]*width="([0-9.]+)"`).FindAllStringSubmatch(svg, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, v)
	}
	if len(lengths) != 2 || math.Abs(lengths[1]-2*lengths[0]) > 0.2 {
		t.Errorf("lengths %v", lengths)
	}
	if !strings.Contains(svg, ">1,000,000<") {
		t.Errorf("thousands are not in groups: %s", svg)
	}
}

// TestBoxes checks that each part of a boxplot is where its value is, and that what is
// beyond the axis is cut off and marked with an arrow.
func TestBoxes(t *testing.T) {
	box := Box{Name: "a", Low: 10, Q1: 20, Median: 30, Q3: 40, High: 100}
	at := func(svg, pattern string) float64 {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(svg)
		if m == nil {
			t.Fatalf("there is no %s in %s", pattern, svg)
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	svg := (&Boxes{Boxes: []Box{box}}).SVG()
	unit := (360 - 2*barSide) / (1.02 * 100) // pixels
	for pattern, want := range map[string]float64{
		`<rect x="([0-9.]+)"`:                                        barSide + 20*unit,
		`<rect [^>]*width="([0-9.]+)"`:                               20 * unit,
		`<line x1="([0-9.]+)" [^>]*stroke-width="2.5"`:               barSide + 30*unit,
		`<line x1="([0-9.]+)" [^>]*stroke="#[0-9a-f]+"`:              barSide + 10*unit,
		`<line x1="[0-9.]+" x2="([0-9.]+)" [^>]*stroke="#[0-9a-f]+"`: barSide + 100*unit,
	} {
		if got := at(svg, pattern); math.Abs(got-want) > 0.1 {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if strings.Contains(svg, "<path") {
		t.Error("an arrow where nothing is cut off")
	}
	cut := (&Boxes{Boxes: []Box{box}, Top: 35}).SVG()
	if !strings.Contains(cut, "<path") || at(cut, `<rect x="([0-9.]+)"`) <= barSide+20*unit {
		t.Errorf("cut off at 35: %s", cut)
	}
	if beyond := (&Boxes{Boxes: []Box{box}, Top: 5}).SVG(); strings.Contains(beyond, "<rect") || !strings.Contains(beyond, "<path") {
		t.Errorf("cut off at 5: %s", beyond)
	}
}

// TestFitsAPhone checks that a chart needs no scaling on 390 pixels, and that its
// names do not overlap there.
func TestFitsAPhone(t *testing.T) {
	c := Chart{}
	for _, name := range []string{"original", "bound, weighted-move-fast", "a"} {
		c.Lines = append(c.Lines, Line{Name: name, X: []float64{1}, Y: []float64{1}})
	}
	f := c.frame()
	if n := f.perRow(); n != 1 || f.rows() != 3 {
		t.Errorf("%d long names in a row", n)
	}
	for _, svg := range []string{c.SVG(), (&Bars{Bars: []Bar{{Name: "a", Value: 1}}}).SVG()} {
		if !strings.Contains(svg, `width="360.0"`) || !strings.Contains(svg, `font-size="12"`) {
			t.Errorf("%.200s", svg)
		}
	}
}

// TestColors checks that every colour is visible on the light and on the dark
// background (contrast of at least 3, WCAG 2 for graphics), and that no two names have
// the same colour.
func TestColors(t *testing.T) {
	seen := make(map[string]string)
	for name, c := range named {
		if other, ok := seen[c]; ok {
			t.Errorf("%s and %s are both %s", name, other, c)
		}
		seen[c] = name
	}
	for _, c := range rest {
		seen[c] = c
	}
	for c, name := range seen {
		for _, ground := range []string{"#ffffff", "#17191c"} {
			if got := contrast(t, c, ground); got < 3 {
				t.Errorf("%s, %s on %s: contrast %.2f", name, c, ground, got)
			}
		}
	}
	first, again := Color("served"), Color("served")
	if Color("slave-0") == Color("slave-1") || first != again || Color("anything") == "" {
		t.Error("colours of slaves")
	}
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a)+0.05, luminance(t, b)+0.05
	return max(x, y) / min(x, y)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, share := range []float64{0.0722, 0.7152, 0.2126} {
		v := float64(n>>(8*i)&0xff) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += share * v
	}
	return sum
}
