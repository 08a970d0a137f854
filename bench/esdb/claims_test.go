package esdb

import (
	"math"
	"slices"
	"strings"
	"testing"

	"adshard/bench/claims"
)

// invented returns a plan whose results agree with the paper's as far as these
// tests need it.
func invented() *Plan {
	p := &Plan{results: make(map[point]*Result), sizes: make(map[Policy][]float64)}
	uneven := map[Policy]float64{Hashing: 100, Double: 1, Dynamic: 10}
	for _, at := range points() {
		r := &Result{Delay: 0.001, Nodes: []float64{0, uneven[at.policy]}, Shards: []float64{0, uneven[at.policy]}, Busy: []float64{0.5, 1, 1, 0.5}}
		if limit := map[Policy]float64{Hashing: 90_000, Double: 140_000, Dynamic: 140_000}[at.policy]; at.rate > limit {
			r.Delay = 1
		}
		p.results[at] = r
	}
	for policy := range uneven {
		p.sizes[policy] = []float64{1, 2}
	}
	p.queries = []tenantQueries{{fixed: [len(policies)]float64{Hashing: 1, Dynamic: 1}, byRows: [len(policies)]float64{Hashing: 1, Dynamic: 2}}}
	return p
}

// holds reports whether a claim about a figure holds.
func holds(t *testing.T, list []claims.Claim, figure string) bool {
	t.Helper()
	i := slices.IndexFunc(list, func(c claims.Claim) bool { return strings.HasPrefix(c.Where, figure) })
	if i < 0 {
		t.Fatal("no claim about ", figure)
	}
	return list[i].Holds
}

// TestClaims: each part of what the paper says is judged.
func TestClaims(t *testing.T) {
	for name, c := range map[string]struct {
		figure string
		spoil  func(p *Plan)
	}{
		"the others' delay rises as early":    {"figure 10 b", func(p *Plan) { p.at(unlimited, Double, skewed, 100_000).Delay = 1 }},
		"hashing's delay does not rise":       {"figure 10 b", func(p *Plan) { p.at(unlimited, Hashing, skewed, room).Delay = 0.001 }},
		"double hashing is not the most even": {"figure 12 a", func(p *Plan) { p.at(waiting, Double, 2, offered).Nodes = []float64{0, 11} }},
		"hashing is not the least even":       {"figure 12 a", func(p *Plan) { p.at(waiting, Hashing, 1.5, offered).Nodes = []float64{0, 11} }},
		"dynamic's shards are as uneven":      {"figure 12 b", func(p *Plan) { p.at(waiting, Dynamic, 1, offered).Shards = []float64{0, 99} }},
		"one node at full capacity":           {"figure 13 a", func(p *Plan) { p.at(waiting, Hashing, skewed, offered).Busy[2] = 0.8 }},
		"more shards are more work":           {"figure 16", func(p *Plan) { p.queries[0].fixed[Dynamic] = 0.2 }},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(p *Plan) []claims.Claim {
				return append(append(p.rising(), p.distributions()...), p.largeQueries())
			}
			p := invented()
			if !holds(t, of(p), c.figure) {
				t.Fatal("it does not hold of the paper's own figures")
			}
			c.spoil(p)
			if holds(t, of(p), c.figure) {
				t.Error("it is said to hold")
			}
		})
	}
}

// TestTwoNeighbours: the last node is a neighbour of the first one.
func TestTwoNeighbours(t *testing.T) {
	for want, list := range map[bool][][]float64{
		true:  {{1, 1, 0.5, 0.5}, {1, 0.5, 0.5, 0.99}},
		false: {{0.67, 0.7, 0.73, 0.67, 0.71, 1, 0.8, 0.55}, {1, 0.5, 1, 0.5}, {1, 1, 1, 0.5}, {math.NaN(), 0}},
	} {
		for _, busy := range list {
			if got := twoNeighbours(busy, 0.98); got != want {
				t.Errorf("%v: %v", busy, got)
			}
		}
	}
}
