package chart

import (
	"fmt"
	"strings"
)

// Bars is a chart of horizontal bars over a common axis that begins at zero,
// so that lengths are proportional to values. The name and the value stand
// above each bar.
type Bars struct {
	Title string
	// Unit is written at the axis.
	Unit string
	Bars []Bar
	// Width is in pixels; 0: 360, which a phone shows unscaled.
	Width float64
}

// Bar is one bar, from zero to Value, with a paler part up to To if To is
// larger. Least and Most, unless both are 0, are drawn as a thin line.
type Bar struct {
	// Name also decides the colour. Label is the value in words.
	Name, Label string
	Value, To   float64
	Least, Most float64
}

const (
	barRow, barHeight = 32.0, 10.0
	barSide           = 4.0
)

// SVG draws the bars.
func (c *Bars) SVG() string {
	var b strings.Builder
	width := orElse(c.Width, 360)
	most := 0.0
	for _, bar := range c.Bars {
		most = max(most, bar.Value, bar.To, bar.Most)
	}
	if most <= 0 {
		most = 1
	}
	x := func(v float64) float64 { return barSide + max(0, min(1, v/(1.02*most)))*(width-2*barSide) }
	end := top + barRow*float64(len(c.Bars))
	open(&b, c.Title, width, end+bottom)
	ruler(&b, x, most, end, width, c.Unit)
	for i := range c.Bars {
		c.Bars[i].draw(&b, x, top+barRow*float64(i), width)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// ruler draws the axis from 0 to `most` below rows that end at the height
// `end`.
func ruler(b *strings.Builder, x func(float64) float64, most, end, width float64, unit string) {
	for i, v := range ticks(most) {
		line(b, x(v), x(v), top, end, gridStyle)
		switch {
		case i == 0:
			text(b, x(v), end+15, "start", "normal", Number(v))
		case x(v) > width-40:
			text(b, x(v), end+15, "end", "normal", Number(v))
		default:
			text(b, x(v), end+15, "middle", "normal", Number(v))
		}
	}
	text(b, width/2, end+31, "middle", "normal", unit)
}

func (bar *Bar) draw(b *strings.Builder, x func(float64) float64, y, width float64) {
	text(b, barSide, y+14, "start", "normal", bar.Name)
	text(b, width-barSide, y+14, "end", "normal", bar.Label)
	y += 18
	block := func(from, to, opacity float64) {
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="%g"><title>%s</title></rect>`,
			num(from), num(y), num(max(0, to-from)), num(barHeight), Color(bar.Name), opacity, escape(bar.Name+": "+bar.Label))
	}
	block(x(0), x(bar.Value), 1)
	if bar.To > bar.Value {
		block(x(bar.Value), x(bar.To), 0.4)
	}
	if bar.Least != 0 || bar.Most != 0 {
		line(b, x(bar.Least), x(bar.Most), y+barHeight/2, y+barHeight/2, inkStyle)
	}
}

func orElse(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}
