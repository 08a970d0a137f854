package chart

import (
	"fmt"
	"math"
	"strings"
)

// Bars is horizontal bars over a common axis, a name before each and its value
// behind.
type Bars struct {
	Title string
	// Unit is written at the axis.
	Unit string
	// Log: equal factors are equal lengths, instead of equal differences.
	Log  bool
	Bars []Bar
	// Width is in pixels; 0: 560.
	Width float64
}

// Bar is one bar: from the axis to Value, paler on to To where that is more.
// Least and Most, if not both 0, are drawn as a thin line.
type Bar struct {
	// Name stands before the bar, Label behind it.
	Name, Label string
	Value, To   float64
	Least, Most float64
	// Color is an index of the palette.
	Color int
}

const (
	barRow, barHeight    = 20.0, 12.0
	nameWidth, valueRoom = 130.0, 110.0
)

// SVG draws the bars.
func (c *Bars) SVG() string {
	var b strings.Builder
	s := c.scale()
	height := top + barRow*float64(len(c.Bars)) + bottom
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %s %s" width="%s" height="%s" font-family="sans-serif" font-size="11">`,
		num(s.width), num(height), num(s.width), num(height))
	fmt.Fprintf(&b, `<title>%s</title>`, escape(c.Title))
	text(&b, 0, 15, "start", "bold", c.Title)
	end := height - bottom
	for _, v := range s.ticks() {
		fmt.Fprintf(&b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#e4e4e4"/>`, num(s.x(v)), num(s.x(v)), num(top), num(end))
		text(&b, s.x(v), end+14, "middle", "normal", short(v))
	}
	text(&b, (s.x0+s.x1)/2, end+28, "middle", "normal", c.Unit)
	for i := range c.Bars {
		s.bar(&b, &c.Bars[i], top+barRow*(float64(i)+0.5))
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// barScale turns values into pixels.
type barScale struct {
	log                   bool
	width, x0, x1, v0, v1 float64
}

func (c *Bars) scale() *barScale {
	s := &barScale{log: c.Log, width: c.Width, x0: nameWidth, v0: math.Inf(1)}
	if s.width == 0 {
		s.width = 560
	}
	s.x1 = s.width - valueRoom
	for _, bar := range c.Bars {
		s.v1 = max(s.v1, bar.Value, bar.To, bar.Most)
		if v := bar.Value; v > 0 {
			s.v0 = min(s.v0, v)
		}
	}
	if s.v1 <= 0 {
		s.v1 = 1
	}
	s.v0 = min(s.v0, s.v1)
	if s.log {
		s.v0 = math.Pow(10, math.Floor(math.Log10(0.7*s.v0)))
		s.v1 *= 1.1
	} else {
		s.v0, s.v1 = 0, s.v1*1.05
	}
	return s
}

func (s *barScale) x(v float64) float64 {
	share := (v - s.v0) / (s.v1 - s.v0)
	if s.log {
		share = math.Log(max(v, s.v0)/s.v0) / math.Log(s.v1/s.v0)
	}
	return s.x0 + max(0, min(1, share))*(s.x1-s.x0)
}

func (s *barScale) ticks() []float64 {
	if !s.log {
		return ticks(s.v1)
	}
	return decades(s.v0, s.v1)
}

// decades are the powers of ten from least to most.
func decades(least, most float64) (out []float64) {
	for v := least; v <= most; v *= 10 {
		out = append(out, v)
	}
	return out
}

func (s *barScale) bar(b *strings.Builder, bar *Bar, y float64) {
	text(b, s.x0-6, y+4, "end", "normal", bar.Name)
	color := palette[bar.Color%len(palette)]
	block := func(from, to, opacity float64) {
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="%g"><title>%s</title></rect>`,
			num(from), num(y-barHeight/2), num(max(0, to-from)), num(barHeight), color, opacity, escape(bar.Name+": "+bar.Label))
	}
	end := s.x(bar.Value)
	block(s.x0, end, 1)
	if bar.To > bar.Value {
		block(end, s.x(bar.To), 0.35)
		end = s.x(bar.To)
	}
	if bar.Least != 0 || bar.Most != 0 {
		fmt.Fprintf(b, `<line x1="%s" x2="%s" y1="%s" y2="%s" stroke="#888"/>`, num(s.x(bar.Least)), num(s.x(bar.Most)), num(y), num(y))
		end = max(end, s.x(bar.Most))
	}
	text(b, end+5, y+4, "start", "normal", bar.Label)
}
