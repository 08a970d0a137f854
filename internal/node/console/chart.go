package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// chart draws max/mean over the last day: a line for the strategy in use, one for the best possible
// value, and one for each strategy in shadow.
type chart struct {
	Lines []line
	// Top is the highest value of the scale, which begins at 1.
	Top float64
	// Since is the time of the first point.
	Since string
}

// line is a line of the chart. Points are the points of an SVG of chartWidth by chartHeight; Last
// is the newest value.
type line struct {
	Name, Points string
	Last         float64
	Colour       int
}

const (
	chartWidth  = 1000
	chartHeight = 200
)

// newChart draws a chart of moments. It returns nil if there are fewer than two.
func newChart(list []moment, now time.Time) *chart {
	if len(list) < 2 {
		return nil
	}
	c := &chart{Top: 1.2, Since: list[0].at.UTC().Format("2006-01-02 15:04 UTC")}
	names := make(map[string]bool)
	for _, m := range list {
		c.Top = max(c.Top, m.max, m.bound)
		for name, v := range m.shadows {
			names[name], c.Top = true, max(c.Top, v)
		}
	}
	c.add("the cluster", list, now, func(m *moment) (float64, bool) { return m.max, true })
	c.add("best possible", list, now, func(m *moment) (float64, bool) { return m.bound, true })
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.add(name+", in shadow", list, now, func(m *moment) (float64, bool) { v, ok := m.shadows[name]; return v, ok })
	}
	return c
}

// add draws a line through the moments for which `of` returns true.
func (c *chart) add(name string, list []moment, now time.Time, of func(*moment) (float64, bool)) {
	l := line{Name: name, Colour: len(c.Lines) % colours}
	var points []string
	for i := range list {
		v, ok := of(&list[i])
		x := chartWidth * (1 - now.Sub(list[i].at).Seconds()/(columns*every).Seconds())
		if !ok || x < 0 {
			continue
		}
		y := chartHeight * (1 - (max(1, v)-1)/(c.Top-1))
		points, l.Last = append(points, fmt.Sprintf("%.1f,%.1f", x, y)), v
	}
	l.Points = strings.Join(points, " ")
	c.Lines = append(c.Lines, l)
}
