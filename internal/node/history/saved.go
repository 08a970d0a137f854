package history

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/node/traffic"
)

const (
	// MaxBytes bounds a saved day.
	MaxBytes = 64 << 10
	// mostShadows bounds the strategies in shadow that are saved.
	mostShadows = 8
	// longest bounds saved times, and largest all other figures. Figures below smallest are saved as 0.
	longest  = time.Hour
	largest  = 1e9
	smallest = 1e-9
	// latest bounds the seconds of Unix time, so that they fit an integer.
	latest = 1e11
)

// saved is a day as it is saved.
type saved struct {
	Shadows []string    `json:"shadows"`
	Points  [][]float64 `json:"points"`
}

// The columns of a saved point; those of the strategies in shadow follow. A value of 0 is not known, except for rates
// and shares, which are not known if the minutes are 0. Times are in seconds of Unix time or in microseconds.
const (
	colAt = iota
	colMinutes
	colPerSecond
	colIncomplete
	colRefused
	colFailed
	colP50
	colP99
	colMaxOverMean
	colBound
	colShadows
)

// Encode returns the day in the form in which it is saved, of at most MaxBytes.
func (d *Day) Encode() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := make(map[string]bool)
	for i := range d.points {
		for name := range d.points[i].Shadows {
			names[name] = true
		}
	}
	out := saved{Shadows: slices.Sorted(maps.Keys(names)), Points: [][]float64{}}
	out.Shadows = out.Shadows[:min(len(out.Shadows), mostShadows)]
	for i := range d.points {
		out.Points = append(out.Points, d.points[i].row(out.Shadows))
	}
	text, _ := json.Marshal(out) // a struct of texts and finite numbers can always be encoded
	return text
}

func (p *Point) row(shadows []string) []float64 {
	t := &p.Traffic
	row := []float64{
		float64(p.At.Unix()), float64(t.Over / Sampling), round(t.PerSecond), round(t.Incomplete), round(t.Refused), round(t.Failed),
		float64(min(t.P50, longest).Microseconds()), float64(min(t.P99, longest).Microseconds()), round(p.MaxOverMean), round(p.Bound),
	}
	for _, name := range shadows {
		row = append(row, round(p.Shadows[name]))
	}
	return row
}

// Decode reads a day that Encode has written, in place of the points so far. Points that are not of the last 24 hours are
// left out. Errors: fault.Corrupt; then there are no points.
func (d *Day) Decode(text []byte, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.points = nil
	if len(text) == 0 {
		return nil
	}
	var in saved
	if err := json.Unmarshal(text, &in); err != nil {
		return fault.New(fault.Corrupt, "history", err)
	}
	for _, row := range in.Points {
		p, ok := pointOf(row, in.Shadows)
		if !ok {
			d.points = nil
			return fault.Newf(fault.Corrupt, "history", "a saved point has %d figures", len(row))
		}
		if n := len(d.points); p.At.After(now) || n > 0 && !p.At.After(d.points[n-1].At) {
			continue
		}
		d.points = append(d.points, p)
	}
	d.forget(now)
	return nil
}

// pointOf reads a row. ok is false if the row has too few figures, or one that cannot be.
func pointOf(row []float64, shadows []string) (p Point, ok bool) {
	if len(row) != colShadows+len(shadows) || slices.Min(row) < 0 {
		return p, false
	}
	p = Point{At: time.Unix(int64(min(row[colAt], latest)), 0).Truncate(Interval), MaxOverMean: row[colMaxOverMean], Bound: row[colBound], Traffic: traffic.Rates{
		Over:      time.Duration(min(row[colMinutes], float64(Interval/Sampling))) * Sampling,
		PerSecond: row[colPerSecond], Incomplete: min(1, row[colIncomplete]), Refused: min(1, row[colRefused]), Failed: min(1, row[colFailed]),
		P50: micros(row[colP50]), P99: micros(row[colP99]),
	}}
	for i, name := range shadows {
		if v := row[colShadows+i]; v > 0 {
			if p.Shadows == nil {
				p.Shadows = make(map[string]float64)
			}
			p.Shadows[name] = v
		}
	}
	return p, true
}

func micros(n float64) time.Duration {
	return time.Duration(min(n, float64(longest.Microseconds()))) * time.Microsecond
}

// round keeps four significant digits, which are more than a chart shows.
func round(x float64) float64 {
	x = min(x, largest)
	if !(x >= smallest) { // or NaN
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}
