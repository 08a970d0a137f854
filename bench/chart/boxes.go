package chart

import (
	"fmt"
	"strings"
)

// Boxes is a chart of horizontal boxplots over a common axis that begins at zero. The
// name and the value in words stand above each boxplot.
type Boxes struct {
	Title string
	// Unit is written at the axis.
	Unit  string
	Boxes []Box
	// Top is the end of the axis; 0: the largest value. What lies beyond it is cut off
	// and marked by an arrow.
	Top float64
	// Width is in pixels; 0: 360, which a phone shows unscaled.
	Width float64
}

// Box is one boxplot: a box from Q1 to Q3 with a line at the median, and whiskers
// down to Low and up to High. The caller decides what Low and High mean.
type Box struct {
	// Name also decides the colour. Label is the value in words.
	Name, Label               string
	Low, Q1, Median, Q3, High float64
}

// SVG draws the boxplots.
func (c *Boxes) SVG() string {
	var b strings.Builder
	width, most := orElse(c.Width, 360), c.Top
	if c.Top == 0 {
		for _, box := range c.Boxes {
			most = max(most, box.High)
		}
	}
	if most <= 0 {
		most = 1
	}
	x := func(v float64) float64 { return barSide + max(0, min(1, v/(1.02*most)))*(width-2*barSide) }
	end := top + barRow*float64(len(c.Boxes))
	open(&b, c.Title, width, end+bottom)
	ruler(&b, x, most, end, width, c.Unit)
	for i := range c.Boxes {
		c.Boxes[i].draw(&b, x, top+barRow*float64(i), width, 1.02*most)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

func (box *Box) draw(b *strings.Builder, x func(float64) float64, y, width, most float64) {
	text(b, barSide, y+14, "start", "normal", box.Name)
	text(b, width-barSide, y+14, "end", "normal", box.Label)
	y += 18
	middle := y + barHeight/2
	color := fmt.Sprintf(`stroke="%s" stroke-width="1.5"`, Color(box.Name))
	line(b, x(box.Low), x(box.High), middle, middle, color)
	for _, v := range []float64{box.Low, box.High} {
		if v <= most {
			line(b, x(v), x(v), y+2, y+barHeight-2, color)
		}
	}
	if box.Q1 <= most {
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="0.45"><title>%s</title></rect>`,
			num(x(box.Q1)), num(y), num(max(0, x(box.Q3)-x(box.Q1))), num(barHeight), Color(box.Name), escape(box.Name+": "+box.Label))
	}
	if box.Median <= most {
		line(b, x(box.Median), x(box.Median), y-1, y+barHeight+1, `stroke="currentColor" stroke-width="2.5"`)
	}
	if box.High > most {
		end := width - barSide
		fmt.Fprintf(b, `<path d="M%s,%s L%s,%s L%s,%s Z" fill="%s"/>`, num(end), num(middle), num(end-7), num(middle-4), num(end-7), num(middle+4), Color(box.Name))
	}
}
