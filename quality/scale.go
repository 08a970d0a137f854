package quality

import (
	"math"
	"slices"
)

const (
	lowest, highest = 1, 10 // qualities of serving.md §4
	// highestFrom is the part of the rates that are below the highest quality.
	highestFrom = 0.95
	// keeps is how far a quality may be from the learned one before it is changed: more than the
	// rounding error of one half.
	keeps = 0.75
)

// Scale is the click rate at the top, at a factor of one, that one point of quality means. It is
// the same for all keywords, since scores are compared.
type Scale float64

// ScaleOf returns the scale on which one in twenty of the rates has the highest quality. Without
// rates, it is the scale on which DefaultPrior is in the middle.
func ScaleOf(rates []float64) Scale {
	if len(rates) == 0 {
		return DefaultPrior / 5
	}
	sorted := slices.Sorted(slices.Values(rates))
	return Scale(sorted[int(math.Round(highestFrom*float64(len(sorted)-1)))] / highest)
}

// Points returns the number of points of a rate on the scale.
func (s Scale) Points(rate float64) float64 { return rate / float64(s) }

// Quality rounds points to a quality, 1 to 10. It keeps a keyword's present quality, unless that is
// 0, if it differs by at most three quarters, so that noise does not change keywords back and
// forth.
func Quality(points float64, present uint8) uint8 {
	points = max(lowest, min(highest, points))
	if present != 0 && math.Abs(points-float64(present)) <= keeps {
		return present
	}
	return uint8(math.Round(points))
}
