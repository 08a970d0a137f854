// Package chart draws line and bar charts as SVG, to stand within a page: no
// script, no network, well-formed XML.
//
// Non-goals: anything interactive.
package chart

import (
	"fmt"
	"math"
	"strings"
)

// Chart is lines over a common axis.
type Chart struct {
	Title, XLabel string
	Lines         []Line
	// Marks are drawn as vertical lines.
	Marks []float64
	// Top is the end of the y axis; 0: the largest value.
	Top float64
	// Steps: only these x values are there, at equal distances.
	Steps []float64
	// Log: equal factors of y are equal heights.
	Log bool
	// Width and Height are in pixels; 0: 560 and 240.
	Width, Height float64
}

// Line is one line; as many X as Y, X rising.
type Line struct {
	Name   string
	X, Y   []float64
	Dashed bool
	// Color is an index of the palette.
	Color int
}

// palette can be told apart by most people, also those who see few colours
// (Okabe and Ito 2008), and goes on with darker ones.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7a5195",
	"#8c564b", "#5c8a00", "#a00000", "#4b6f9c"}

const (
	left, right, top, bottom = 58.0, 12.0, 26.0, 34.0
	legendRow                = 16.0
)

// frame is the place of the axes and their scales.
type frame struct {
	c            *Chart
	x0, x1       float64 // pixels
	y0, y1       float64 // y0 is below
	least, most  float64 // of x
	height, ymax float64
	ymin         float64 // where the axis begins: 0 unless it is logarithmic
}

// SVG draws the chart.
func (c *Chart) SVG() string {
	var b strings.Builder
	f := c.frame()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %s %s" width="%s" height="%s" font-family="sans-serif" font-size="11">`,
		num(f.x1+right), num(f.height), num(f.x1+right), num(f.height))
	fmt.Fprintf(&b, `<title>%s</title>`, escape(c.Title))
	text(&b, left, 15, "start", "bold", c.Title)
	f.axes(&b)
	for _, m := range c.Marks {
		if m > f.least && m < f.most {
			fmt.Fprintf(&b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#999" stroke-dasharray="2 3"/>`, num(f.x(m)), num(f.x(m)), num(f.y0), num(f.y1))
		}
	}
	for _, l := range c.Lines {
		f.line(&b, l)
	}
	f.legend(&b)
	b.WriteString(`</svg>`)
	return b.String()
}

func (c *Chart) frame() *frame {
	w, h := c.Width, c.Height
	if w == 0 {
		w = 560
	}
	if h == 0 {
		h = 240
	}
	f := &frame{c: c, x0: left, x1: w - right, y0: h - bottom, y1: top, least: math.Inf(1), most: math.Inf(-1), ymax: c.Top}
	for _, l := range c.Lines {
		for i, x := range l.X {
			f.least, f.most = min(f.least, x), max(f.most, x)
			if c.Top == 0 {
				f.ymax = max(f.ymax, l.Y[i])
			}
		}
	}
	if f.least > f.most {
		f.least, f.most = 0, 1
	}
	if f.least == f.most {
		f.most = f.least + 1
	}
	if f.ymax <= 0 {
		f.ymax = 1
	}
	f.ymax *= 1.05
	if c.Log {
		f.ymin = c.lowest(f.ymax)
	}
	f.height = h + legendRow*float64(f.rows())
	return f
}

func (f *frame) x(v float64) float64 {
	if n := len(f.c.Steps); n > 0 {
		for i, s := range f.c.Steps {
			if s == v {
				return f.x0 + (float64(i)+0.5)*(f.x1-f.x0)/float64(n)
			}
		}
	}
	return f.x0 + (v-f.least)/(f.most-f.least)*(f.x1-f.x0)
}

func (f *frame) y(v float64) float64 {
	share := v / f.ymax
	if f.c.Log {
		share = math.Log(max(v, f.ymin)/f.ymin) / math.Log(f.ymax/f.ymin)
	}
	return f.y0 - min(share, 1)*(f.y0-f.y1)
}

// lowest is the power of ten at which a logarithmic axis begins.
func (c *Chart) lowest(most float64) float64 {
	least := most
	for _, l := range c.Lines {
		for _, y := range l.Y {
			if y > 0 {
				least = min(least, y)
			}
		}
	}
	return math.Pow(10, math.Floor(math.Log10(0.9*least)))
}

func (f *frame) axes(b *strings.Builder) {
	marked := ticks(f.ymax)
	if f.c.Log {
		marked = decades(f.ymin, f.ymax)
	}
	for _, v := range marked {
		y := num(f.y(v))
		fmt.Fprintf(b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#e4e4e4"/>`, num(f.x0), num(f.x1), y, y)
		text(b, f.x0-6, f.y(v)+4, "end", "normal", short(v))
	}
	fmt.Fprintf(b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#444"/>`, num(f.x0), num(f.x1), num(f.y0), num(f.y0))
	marks := f.c.Steps
	if len(marks) == 0 {
		for _, v := range ticks(f.most) {
			if v >= f.least {
				marks = append(marks, v)
			}
		}
	}
	for _, v := range marks {
		text(b, f.x(v), f.y0+14, "middle", "normal", short(v))
	}
	text(b, (f.x0+f.x1)/2, f.y0+28, "middle", "normal", f.c.XLabel)
}

func (f *frame) line(b *strings.Builder, l Line) {
	color := palette[l.Color%len(palette)]
	dash := ""
	if l.Dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	var points strings.Builder
	for i := range l.X {
		fmt.Fprintf(&points, "%s,%s ", num(f.x(l.X[i])), num(f.y(l.Y[i])))
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.6"%s points="%s"><title>%s</title></polyline>`,
		color, dash, strings.TrimSpace(points.String()), escape(l.Name))
	if len(f.c.Steps) > 0 || len(l.X) == 1 {
		for i := range l.X {
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="2.6" fill="%s"><title>%s: %s</title></circle>`,
				num(f.x(l.X[i])), num(f.y(l.Y[i])), color, escape(l.Name), short(l.Y[i]))
		}
	}
}

// perRow is how many names stand in a row of the legend.
const perRow = 3

func (f *frame) rows() int {
	if len(f.c.Lines) < 2 {
		return 0
	}
	return (len(f.c.Lines) + perRow - 1) / perRow
}

func (f *frame) legend(b *strings.Builder) {
	if f.rows() == 0 {
		return
	}
	step := (f.x1 - f.x0) / perRow
	for i, l := range f.c.Lines {
		x, y := f.x0+float64(i%perRow)*step, f.y0+bottom+legendRow*(float64(i/perRow)+0.5)
		dash := ""
		if l.Dashed {
			dash = ` stroke-dasharray="5 4"`
		}
		fmt.Fprintf(b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="%s" stroke-width="2"%s/>`,
			num(x), num(x+18), num(y), num(y), palette[l.Color%len(palette)], dash)
		text(b, x+22, y+4, "start", "normal", l.Name)
	}
}

// ticks are some round numbers from 0 to top.
func ticks(top float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(top)))
	switch {
	case top/step < 2:
		step /= 5
	case top/step < 5:
		step /= 2
	}
	var out []float64
	for i := 0; float64(i)*step <= top; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

func text(b *strings.Builder, x, y float64, anchor, weight, s string) {
	fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="%s" font-weight="%s">%s</text>`, num(x), num(y), anchor, weight, escape(s))
}

// num writes a coordinate.
func num(v float64) string { return fmt.Sprintf("%.1f", v) }

// short writes a number of an axis.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
