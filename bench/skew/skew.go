// Package skew draws from the skewed distributions of the papers whose experiments are
// repeated. They draw the numbers 0 to n-1, the most popular first.
//
// Goals: the same seed gives the same numbers; the distribution itself can be queried,
// so that results can be compared with the truth. Non-goals: n beyond some millions.
package skew

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Distribution holds the probabilities of the numbers 0 to n-1.
type Distribution struct{ sums []float64 }

// Zipf returns a distribution in which the i-th number, from 1, has a probability
// proportional to i^-exponent; an exponent of 0 is uniform.
func Zipf(n int, exponent float64) *Distribution {
	return weighed(n, func(i int) float64 { return math.Pow(float64(i+1), -exponent) })
}

// Poisson returns a Poisson distribution with this mean, cut off at n.
func Poisson(n int, mean float64) *Distribution {
	return weighed(n, func(i int) float64 {
		l, _ := math.Lgamma(float64(i + 1))
		return math.Exp(float64(i)*math.Log(mean) - mean - l)
	})
}

func weighed(n int, weight func(i int) float64) *Distribution {
	d := &Distribution{sums: make([]float64, n)}
	sum := 0.0
	for i := range d.sums {
		sum += weight(i)
		d.sums[i] = sum
	}
	for i := range d.sums {
		d.sums[i] /= sum
	}
	return d
}

// Len returns n.
func (d *Distribution) Len() int { return len(d.sums) }

// Draw draws a number.
func (d *Distribution) Draw(r *rand.Rand) int { return d.At(r.Float64()) }

// At returns the smallest number up to which the probabilities sum to the given part, 0
// to 1.
func (d *Distribution) At(part float64) int {
	return min(sort.SearchFloat64s(d.sums, part), len(d.sums)-1)
}

// UpTo returns the probability of the numbers from 0 to i.
func (d *Distribution) UpTo(i int) float64 {
	if i < 0 {
		return 0
	}
	return d.sums[min(i, len(d.sums)-1)]
}

// Of returns the probability of i.
func (d *Distribution) Of(i int) float64 { return d.UpTo(i) - d.UpTo(i-1) }
