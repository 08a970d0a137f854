package executions

import (
	"slices"

	"adshard/bench/measure"
)

// Cost says where the time of a layout's queries goes: the fixed cost of a query, the cost
// of each keyword that begins with one of its words, and the additional cost of each match.
// It is fitted to the medians of the queries, with equal relative errors.
type Cost struct {
	Query   float64 `json:"query_us"`
	Keyword float64 `json:"keyword_ns"`
	Match   float64 `json:"match_ns"`
}

// cost fits the times of the second half of a setup. It returns nil if the setup asks only
// one query, or if its queries are too few or too similar.
func (r *run) cost(s *Setup, times []float64) *Cost {
	a := r.asked[s.asked]
	if len(a.queries) == 1 {
		return nil
	}
	of := make(map[int][]float64) // by query
	for i := len(times) / 2; i < len(times); i++ {
		q := a.queries[a.order[i]]
		of[q] = append(of[q], times[i])
	}
	var fit measure.Linear
	for q, list := range of {
		slices.Sort(list)
		took := quantile(list, 0.5)
		fit.Add([3]float64{1 / took, r.begin[s.slaves][q] / took, float64(r.found[s.slaves][q].Matches) / took}, 1)
	}
	x, ok := fit.Solve()
	if !ok {
		return nil
	}
	return &Cost{Query: rounded(x[0]), Keyword: rounded(1000 * x[1]), Match: rounded(1000 * x[2])}
}
