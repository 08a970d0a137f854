package console

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"adshard/internal/node/httpapi/api"
)

// chart draws figures of the last 24 hours: lines over a horizontal axis of times and a vertical one of values.
type chart struct {
	Title, Unit string
	// Text says in words what the lines show.
	Text  string
	Lines []line
	// Gaps are the times after the first point of which nothing is known.
	Gaps []gap
	// Ticks label the vertical axis from the top down, and Times the horizontal one from left to right, at equal
	// distances.
	Ticks, Times []string
}

// line is a line of a chart. Each of its parts has the points of an SVG that is chartWidth wide and chartHeight high;
// between two parts nothing is known. Dots are parts of a single point. Last is the newest value.
type line struct {
	Name, Last  string
	Parts, Dots []string
	Colour      int
	Dashed      bool
}

// gap is a part of the horizontal axis.
type gap struct{ X, Width int }

const (
	// chartWidth is the distance between the first interval of a day and the last.
	chartWidth  = 287
	chartHeight = 100
	// timesShown is the number of labels of the horizontal axis, and ticksShown that of the vertical one.
	timesShown = 5
	ticksShown = 3
)

// series are the values of a line by interval. ok is false where nothing is known.
type series struct {
	name   string
	dashed bool
	of     func(*api.HistoryPoint) (v float64, ok bool)
}

// axis is a vertical axis: where it begins, and how its values are written.
type axis struct {
	from, least float64 // it is at least `least` long
	write       func(float64) string
}

// newChart draws series. It returns nil if there is nothing to draw.
func newChart(h *api.BalanceHistory, now time.Time, title, unit string, a axis, all ...series) *chart {
	if h.IntervalMs <= 0 {
		return nil
	}
	c := &chart{Title: title, Unit: unit}
	length, known, drawn := a.least, false, make([][]float64, len(all))
	for i := range all {
		drawn[i] = all[i].values(h)
		for _, v := range drawn[i] {
			if !math.IsNaN(v) {
				length, known = max(length, v-a.from), true
			}
		}
	}
	if !known {
		return nil
	}
	length = scale(length)
	var texts []string
	for i := range all {
		c.add(&all[i], drawn[i], a, length)
		texts = append(texts, c.Lines[i].Name+" "+c.Lines[i].Last+most(drawn[i], a.write))
	}
	c.Gaps = gaps(drawn)
	for i := range ticksShown {
		c.Ticks = append(c.Ticks, a.write(a.from+length*float64(ticksShown-1-i)/(ticksShown-1)))
	}
	c.Times = timesOf(now, time.Duration(h.IntervalMs)*time.Millisecond*chartWidth)
	c.Text = fmt.Sprintf("%s over the last 24 hours: %s", title, strings.Join(texts, "; "))
	return c
}

// timesOf labels an axis that ends now.
func timesOf(now time.Time, length time.Duration) (list []string) {
	for i := range timesShown {
		ago := length * time.Duration(timesShown-1-i) / (timesShown - 1)
		list = append(list, now.Add(-ago).UTC().Format("15:04"))
	}
	return list
}

// values returns the values by horizontal position, and NaN where nothing is known.
func (s *series) values(h *api.BalanceHistory) []float64 {
	list := slices.Repeat([]float64{math.NaN()}, chartWidth+1)
	for i := range h.Points {
		x := chartWidth - h.Points[i].AgeMs/h.IntervalMs
		if v, ok := s.of(&h.Points[i]); ok && x >= 0 && x <= chartWidth {
			list[x] = v
		}
	}
	return list
}

// add draws a line, in a part for each run of known values.
func (c *chart) add(s *series, list []float64, a axis, length float64) {
	l := line{Name: s.name, Colour: len(c.Lines) % colours, Dashed: s.dashed, Last: "–"}
	var points []string
	end := func() {
		switch len(points) {
		case 0:
		case 1:
			l.Dots = append(l.Dots, points[0]+" "+points[0]) // a line of no length with round ends
		default:
			l.Parts = append(l.Parts, strings.Join(points, " "))
		}
		points = nil
	}
	for x, v := range list {
		if math.IsNaN(v) {
			end()
			continue
		}
		y := chartHeight * (1 - max(0, v-a.from)/length)
		points, l.Last = append(points, fmt.Sprintf("%d,%.1f", x, y)), a.write(v)
	}
	end()
	c.Lines = append(c.Lines, l)
}

// gaps returns the parts of the axis, after the first value, for which no series has one. An interval that has just begun
// is none.
func gaps(all [][]float64) (list []gap) {
	begun := false
	for x := range chartWidth {
		if slices.ContainsFunc(all, func(s []float64) bool { return !math.IsNaN(s[x]) }) {
			begun = true
			continue
		}
		if !begun {
			continue
		}
		if n := len(list); n > 0 && list[n-1].X+list[n-1].Width == x {
			list[n-1].Width++
			continue
		}
		list = append(list, gap{x, 1})
	}
	return list
}

// most says what the highest of the values is, or nothing if none is known.
func most(list []float64, write func(float64) string) string {
	highest := math.Inf(-1)
	for _, v := range list {
		if v > highest {
			highest = v
		}
	}
	if math.IsInf(highest, -1) {
		return ""
	}
	return ", at most " + write(highest)
}

// scale returns a round number that is not below x, whose half is round, too.
func scale(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 3, 4, 5, 6, 8} {
		if n*unit >= x*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

// trafficSeries returns values of what masters answered.
func trafficSeries(name string, of func(*api.Traffic) float64) series {
	return series{name: name, of: func(p *api.HistoryPoint) (float64, bool) {
		if p.Traffic == nil {
			return 0, false
		}
		return of(p.Traffic), true
	}}
}

// trafficCharts draws what masters answered.
func trafficCharts(h *api.BalanceHistory, now time.Time) []*chart {
	rate := newChart(h, now, "Queries a second", "", axis{least: 1, write: short}, trafficSeries("queries", func(t *api.Traffic) float64 { return t.PerSecond }))
	times := func(name string, of func(*api.Traffic) int64) series {
		return series{name: name, of: func(p *api.HistoryPoint) (float64, bool) {
			if p.Traffic == nil || of(p.Traffic) == 0 {
				return 0, false
			}
			return float64(of(p.Traffic)) / 1000, true
		}}
	}
	took := newChart(h, now, "Time of answers", "ms", axis{least: 1, write: short},
		times("median", func(t *api.Traffic) int64 { return t.P50Micros }), times("p99", func(t *api.Traffic) int64 { return t.P99Micros }))
	lost := newChart(h, now, "Incomplete, refused and failed", "% of queries", axis{least: 1, write: short},
		trafficSeries("incomplete", func(t *api.Traffic) float64 { return 100 * t.Incomplete }),
		trafficSeries("refused", func(t *api.Traffic) float64 { return 100 * t.Refused }),
		trafficSeries("failed", func(t *api.Traffic) float64 { return 100 * t.Failed }))
	return []*chart{rate, took, lost}
}

// short writes a value of an axis with three significant digits.
func short(x float64) string { return digits(x, 3) }

// balanceChart draws max/mean, the best possible and, if `others` is set, what the strategies in shadow would reach.
func balanceChart(h *api.BalanceHistory, now time.Time, others bool) *chart {
	of := func(name string, v func(*api.HistoryPoint) float64) series {
		return series{name: name, of: func(p *api.HistoryPoint) (float64, bool) { return v(p), v(p) > 0 }}
	}
	best := of("best possible", func(p *api.HistoryPoint) float64 { return p.LowerBound })
	best.dashed = true
	all := []series{of("the cluster", func(p *api.HistoryPoint) float64 { return p.MaxOverMean }), best}
	if others {
		names := make(map[string]bool)
		for i := range h.Points {
			for name := range h.Points[i].Shadows {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, of(name, func(p *api.HistoryPoint) float64 { return p.Shadows[name] }))
		}
	}
	return newChart(h, now, "Load of the fullest shard over the mean", "max/mean", axis{from: 1, least: 0.2, write: ratio}, all...)
}
