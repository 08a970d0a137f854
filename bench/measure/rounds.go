package measure

import "slices"

// Rounds returns the least, the median and the largest of values, or zeros if
// there are none. The median of an even number of values is the mean of the
// middle two.
func Rounds(values []float64) (least, median, most float64) {
	n := len(values)
	if n == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]
}
