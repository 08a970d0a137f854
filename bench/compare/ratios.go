package compare

import (
	"fmt"
	"slices"

	"adshard/bench/trace"
)

// Ratios is the distribution of one quotient over the queries of a mix: the
// time at a query's slowest slave over that query's own bound, the least that
// any placement of whole groups could reach. The best value is 1. Queries count
// by how often they are asked. Queries that cost no slave anything are left
// out, because every placement is equally good for them.
type Ratios struct {
	// Costs names the cost model behind the times.
	Costs string  `json:"costs"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	// Counted is the share of the queries that cost something, weighted by how
	// often they are asked.
	Counted float64 `json:"counted"`
}

// NamedCosts is a cost model with its name in tables.
type NamedCosts struct {
	Name string
	CostModel
}

// WorkAlone names the cost model in StudyModels without a constant cost.
const WorkAlone = "work alone"

// StudyModels returns the cost models by which a study judges, the strictest
// first. A constant that every slave spends on every query is the same for all
// placements and draws each ratio towards 1. call is such a constant, in
// microseconds: the cost of a call to a slave besides its search.
func StudyModels(m CostModel, call float64) []NamedCosts {
	alone := m
	alone.Query = 0
	called := m
	called.Query += call
	return []NamedCosts{
		{WorkAlone, alone},
		{"postings examined alone", CostModel{Examined: 1}},
		{"matches alone", CostModel{Matched: 1}},
		{fmt.Sprintf("with %g µs a search", m.Query), m},
		{fmt.Sprintf("with %g µs a search and call", called.Query), called},
	}
}

// RatiosOf returns the distribution for a mix of queries whose weights sum to
// 1. Several placements, such as draws of a random one, are pooled.
func RatiosOf(t *trace.Trace, m NamedCosts, queries []float64, placements ...Placement) Ratios {
	var all []weighed
	counted := 0.0
	w := m.weights()
	for _, p := range placements {
		one := make([]float64, p.Slaves)
		for q, share := range queries {
			if share == 0 {
				continue
			}
			clear(one)
			total, dearest := 0.0, 0.0
			t.Query(q, func(c trace.Cost) {
				cost := trace.Of(w, c)
				one[p.Owner[c.Item]] += cost
				total += cost
				dearest = max(dearest, cost)
			})
			if total == 0 {
				continue
			}
			bound := m.Query + max(total/float64(p.Slaves), dearest)
			all = append(all, weighed{(m.Query + slices.Max(one)) / bound, share})
			counted += share / float64(len(placements))
		}
	}
	r := Ratios{Costs: m.Name, Mean: meanOf(all), Counted: counted}
	r.P50, r.P90, r.P99, r.Max = quantile(all, 0.5), quantile(all, 0.9), quantile(all, 0.99), quantile(all, 1)
	return r
}
