package onestore

import (
	"time"

	"adshard/bench/measure"
)

// One is what one query cost.
type One struct {
	Took              time.Duration
	Examined, Matched uint64
}

// Fit adds what a search costs by itself, for each posting examined, and for
// each match besides: least squares over the queries, each at the fastest of
// the rounds. Matches are whole with exact counts only.
func Fit(report *measure.Report, rounds []*Round) {
	var s sums
	for i, one := range rounds[0].Each {
		best := one.Took
		for _, r := range rounds[1:] {
			best = min(best, r.Each[i].Took)
		}
		s.add([3]float64{1, float64(one.Examined), float64(one.Matched)}, best.Seconds()*1e6)
	}
	x, ok := s.solve()
	if !ok {
		report.Note("the queries are too few or too much alike to separate the costs")
		return
	}
	report.Add("cost of a search by itself", "µs", x[0])
	report.Add("cost of a posting examined", "ns", x[1]*1e3)
	report.Add("cost of a match besides", "ns", x[2]*1e3)
}

// sums are the normal equations of a linear fit.
type sums [3][4]float64

func (s *sums) add(x [3]float64, y float64) {
	for i := range x {
		for j := range x {
			s[i][j] += x[i] * x[j]
		}
		s[i][3] += x[i] * y
	}
}

// solve eliminates; false: the equations do not determine the unknowns.
func (s *sums) solve() (x [3]float64, ok bool) {
	m := *s
	for i := range m {
		if m[i][i] < 1e-9*s[i][i] || m[i][i] <= 0 {
			return x, false
		}
		for j := i + 1; j < 3; j++ {
			f := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	for i := 2; i >= 0; i-- {
		x[i] = m[i][3]
		for k := i + 1; k < 3; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x, true
}
