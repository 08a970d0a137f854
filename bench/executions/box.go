package executions

import (
	"slices"
	"strconv"
)

// Box is the boxplot of some times, in µs: the quartiles, and whiskers to the
// outermost times within one and a half box heights of the box (Tukey's).
type Box struct {
	Low    float64 `json:"low"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	High   float64 `json:"high"`
	// Beyond is the number of times outside the whiskers, Most the longest time.
	Beyond int     `json:"beyond"`
	Most   float64 `json:"most"`
}

// reach is the greatest length of a whisker, in box heights.
const reach = 1.5

// boxOf returns the boxplot of one or more times.
func boxOf(times []float64) Box {
	sorted := slices.Sorted(slices.Values(times))
	b := Box{Q1: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), Q3: quantile(sorted, 0.75)}
	height := b.Q3 - b.Q1
	from, _ := slices.BinarySearch(sorted, b.Q1-reach*height)
	to, _ := slices.BinarySearchFunc(sorted, b.Q3+reach*height, func(v, end float64) int {
		if v <= end {
			return -1
		}
		return 1
	})
	b.Low, b.High, b.Beyond, b.Most = sorted[from], sorted[to-1], len(sorted)-(to-from), sorted[len(sorted)-1]
	for _, v := range []*float64{&b.Low, &b.Q1, &b.Median, &b.Q3, &b.High, &b.Most} {
		*v = rounded(*v)
	}
	return b
}

// quantile returns a quantile of sorted values, interpolated between two of
// them.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// rounded returns v with four significant digits: more would be noise and make
// files long.
func rounded(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// Course is the evolution of times: the median and the longest time of each of
// up to a hundred parts of equal length.
type Course struct {
	Medians []float64 `json:"medians"`
	Most    []float64 `json:"most"`
}

// parts is the largest number of parts of a course.
const parts = 100

// courseOf returns the evolution of one or more times, in their order.
func courseOf(times []float64) (c Course) {
	n := min(parts, len(times))
	for i := range n {
		sorted := slices.Sorted(slices.Values(times[i*len(times)/n : (i+1)*len(times)/n]))
		c.Medians, c.Most = append(c.Medians, rounded(quantile(sorted, 0.5))), append(c.Most, rounded(sorted[len(sorted)-1]))
	}
	return c
}
