// Package chart draws line charts, bars and boxplots as SVG to be placed in a page: no
// script, no network, well-formed XML. A name has the same colour in all charts; text
// and axes take the page's own colour, so that they can be read on light and on dark.
//
// Non-goals: anything interactive.
package chart

import (
	"fmt"
	"math"
	"strings"
)

// Chart is a line chart: lines over a common axis, with y beginning at zero.
type Chart struct {
	Title, XLabel string
	Lines         []Line
	// Marks are x values at which vertical lines are drawn.
	Marks []float64
	// Top is the end of the y axis; 0: the largest value.
	Top float64
	// Steps, if not nil, are the only x values, drawn at equal distances.
	Steps []float64
	// Width and Height are in pixels; 0: 360 and 220.
	Width, Height float64
}

// Line is one line. X and Y are equally long, and X rises.
type Line struct {
	Name   string
	X, Y   []float64
	Dashed bool
	// Of names what the line is about and so decides its colour; "" means Name.
	Of string
}

func (l *Line) color() string {
	if l.Of != "" {
		return Color(l.Of)
	}
	return Color(l.Name)
}

const (
	left, right, top, bottom = 58.0, 10.0, 26.0, 38.0
	legendRow                = 18.0
	// letter is the approximate width of a letter of the legend.
	letter = 6.6
)

// The styles of lines without a name.
const (
	gridStyle = `stroke="currentColor" stroke-opacity="0.15"`
	inkStyle  = `stroke="currentColor" stroke-opacity="0.7"`
	markStyle = `stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="2 3"`
)

// frame holds the positions of the axes and their scales.
type frame struct {
	c            *Chart
	x0, x1       float64 // pixels
	y0, y1       float64 // y0 is the lower one
	least, most  float64 // of the x axis
	height, ymax float64
}

// SVG draws the chart.
func (c *Chart) SVG() string {
	var b strings.Builder
	f := c.frame()
	open(&b, c.Title, f.x1+right, f.height)
	f.axes(&b)
	for _, m := range c.Marks {
		if m > f.least && m < f.most {
			line(&b, f.x(m), f.x(m), f.y0, f.y1, markStyle)
		}
	}
	for i := range c.Lines {
		f.line(&b, &c.Lines[i])
	}
	f.legend(&b)
	b.WriteString(`</svg>`)
	return b.String()
}

func (c *Chart) frame() *frame {
	w, h := orElse(c.Width, 360), orElse(c.Height, 220)
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

func (f *frame) y(v float64) float64 { return f.y0 - min(v/f.ymax, 1)*(f.y0-f.y1) }

func (f *frame) axes(b *strings.Builder) {
	for _, v := range ticks(f.ymax) {
		line(b, f.x0, f.x1, f.y(v), f.y(v), gridStyle)
		text(b, f.x0-6, f.y(v)+4, "end", "normal", Number(v))
	}
	line(b, f.x0, f.x1, f.y0, f.y0, inkStyle)
	marks := f.c.Steps
	if len(marks) == 0 {
		for _, v := range ticks(f.most) {
			if v >= f.least {
				marks = append(marks, v)
			}
		}
	}
	for i, v := range marks {
		anchor := "middle"
		if i == len(marks)-1 && f.x(v) > f.x1-20 {
			anchor = "end"
		}
		text(b, f.x(v), f.y0+15, anchor, "normal", Number(v))
	}
	text(b, (f.x0+f.x1)/2, f.y0+31, "middle", "normal", f.c.XLabel)
}

func (f *frame) line(b *strings.Builder, l *Line) {
	var points strings.Builder
	for i := range l.X {
		fmt.Fprintf(&points, "%s,%s ", num(f.x(l.X[i])), num(f.y(l.Y[i])))
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.8"%s points="%s"><title>%s</title></polyline>`,
		l.color(), l.dash(), strings.TrimSpace(points.String()), escape(l.Name))
	if len(f.c.Steps) > 0 || len(l.X) == 1 {
		for i := range l.X {
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"><title>%s: %s</title></circle>`,
				num(f.x(l.X[i])), num(f.y(l.Y[i])), l.color(), escape(l.Name), Number(l.Y[i]))
		}
	}
}

func (l *Line) dash() string {
	if l.Dashed {
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// perRow returns how many names fit beside each other in the legend.
func (f *frame) perRow() int {
	longest := 0
	for _, l := range f.c.Lines {
		longest = max(longest, len([]rune(l.Name)))
	}
	return max(1, int((f.x1+right)/(30+letter*float64(longest))))
}

func (f *frame) rows() int {
	if len(f.c.Lines) < 2 {
		return 0
	}
	return (len(f.c.Lines) + f.perRow() - 1) / f.perRow()
}

func (f *frame) legend(b *strings.Builder) {
	if f.rows() == 0 {
		return
	}
	n := f.perRow()
	step := (f.x1 + right) / float64(n)
	for i := range f.c.Lines {
		l := &f.c.Lines[i]
		x, y := float64(i%n)*step, f.y0+bottom+legendRow*(float64(i/n)+0.5)
		line(b, x, x+18, y, y, fmt.Sprintf(`stroke="%s" stroke-width="3"%s`, l.color(), l.dash()))
		text(b, x+23, y+4, "start", "normal", l.Name)
	}
}

// ticks returns some round numbers from 0 to top.
func ticks(top float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(top)))
	switch {
	case top/step < 2:
		step /= 2
	case top/step >= 5:
		step *= 2
	}
	var out []float64
	for i := 0; float64(i)*step <= top; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}
