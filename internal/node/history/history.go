// Package history keeps what a balancer has seen over the last 24 hours: what masters answered, and how even the load
// was. A Day has a point for each interval of five minutes, made of a sample a minute. A leader saves it with the control
// state, so that the next leader goes on with it.
//
// Goals: figures for people, a few kilobytes of memory and some tens in the database, whatever is sampled. Non-goals:
// exact counts, which metrics have; times that decide anything.
package history

import (
	"sync"
	"time"

	"adshard/internal/node/traffic"
)

const (
	// Interval is the time that a point covers.
	Interval = 5 * time.Minute
	// Points is the number of points of a day.
	Points = int(24 * time.Hour / Interval)
	// Sampling is the time between two samples.
	Sampling = time.Minute
)

// Sample is what a balancer sees at one moment.
type Sample struct {
	// Traffic is what masters answered during the last minute. Its Over is 0 if that is not known.
	Traffic traffic.Rates
	// MaxOverMean is the most loaded shard's load over the mean, and Bound the least that any placement can reach.
	// Both are 0 if there is no plan.
	MaxOverMean, Bound float64
	// Shadows are the values of MaxOverMean that strategies in shadow would reach, by name.
	Shadows map[string]float64
}

// Point is what was seen during one interval.
type Point struct {
	// At is the beginning of the interval.
	At time.Time
	// Traffic has the mean rates of the interval and the highest percentiles of its samples. Over is a minute for each
	// sample, or 0 if nothing was known.
	Traffic traffic.Rates
	// MaxOverMean, Bound and Shadows are those of the last sample.
	MaxOverMean, Bound float64
	Shadows            map[string]float64
}

// Day keeps the points of the last 24 hours. It is safe for concurrent use. The zero value has none.
type Day struct {
	mu     sync.Mutex
	points []Point // oldest first, at most Points
}

// Add adds a sample, and reports whether it is the first of its interval. It drops points of later intervals: the clock
// was ahead then.
func (d *Day) Add(now time.Time, s Sample) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := now.Truncate(Interval)
	for n := len(d.points); n > 0 && d.points[n-1].At.After(at); n-- {
		d.points = d.points[:n-1]
	}
	if n := len(d.points); n == 0 || at.After(d.points[n-1].At) {
		d.points = append(d.points, Point{At: at})
		first = true
	}
	p := &d.points[len(d.points)-1]
	if s.Traffic.Over > 0 {
		p.Traffic = mean(p.Traffic, s.Traffic)
	}
	if s.MaxOverMean > 0 {
		p.MaxOverMean, p.Bound, p.Shadows = s.MaxOverMean, s.Bound, s.Shadows
	}
	d.forget(now)
	return first
}

// forget drops points that are older than a day. The caller holds mu.
func (d *Day) forget(now time.Time) {
	old := 0
	for old < len(d.points) && (now.Sub(d.points[old].At) >= time.Duration(Points)*Interval || len(d.points)-old > Points) {
		old++
	}
	d.points = append(d.points[:0], d.points[old:]...)
}

// mean adds the rates of a minute to those of the minutes before it.
func mean(before, now traffic.Rates) traffic.Rates {
	minutes := float64(before.Over / Sampling)
	sum := before.PerSecond*minutes + now.PerSecond
	share := func(a, b float64) float64 {
		if sum == 0 {
			return 0
		}
		return (a*before.PerSecond*minutes + b*now.PerSecond) / sum
	}
	return traffic.Rates{
		Over: before.Over + Sampling, PerSecond: sum / (minutes + 1),
		Incomplete: share(before.Incomplete, now.Incomplete), Refused: share(before.Refused, now.Refused), Failed: share(before.Failed, now.Failed),
		P50: max(before.P50, now.P50), P99: max(before.P99, now.P99),
	}
}

// List returns the points of the last 24 hours, oldest first. Intervals of which nothing is known have none. Callers
// must not change the maps.
func (d *Day) List(now time.Time) []Point {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(now)
	return append([]Point(nil), d.points...)
}
