package compare

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRatiosOf compares each query with its own bound: the quotient of the
// quantiles of the two lists would be 1 here, although no query comes near
// that.
func TestRatiosOf(t *testing.T) {
	// Query 0 has 8 on one slave, bound 4; query 1 has 4 and 4, bound 4; query 2
	// costs nothing.
	tr := made(4, [][]uint32{{4, 0, 4, 0}, {2, 2, 2, 2}, {}})
	p := Placement{Slaves: 2, Owner: []uint16{0, 1, 0, 1}}
	alone := NamedCosts{"alone", CostModel{Examined: 1}}
	got := RatiosOf(tr, alone, []float64{0.2, 0.6, 0.2}, p)
	want := Ratios{Costs: "alone", Mean: (0.2*2 + 0.6*1) / 0.8, P50: 1, P90: 2, P99: 2, Max: 2, Counted: 0.8}
	if !near(got.Mean, want.Mean) || !near(got.Counted, want.Counted) || got.P50 != 1 || got.P90 != 2 || got.Max != 2 || got.Costs != "alone" {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	// A constant hides the effect of the placement: (4+8)/(4+4).
	if got := RatiosOf(tr, NamedCosts{"", CostModel{Query: 4, Examined: 1}}, []float64{1, 0, 0}, p); !near(got.P99, 1.5) {
		t.Errorf("with a constant: %+v", got)
	}
	if got := RatiosOf(tr, alone, []float64{0, 0, 1}, p); got.Mean != 0 || got.Counted != 0 {
		t.Errorf("queries that cost nothing: %+v", got)
	}
	// Two placements are pooled: the same time half as often.
	good := Placement{Slaves: 2, Owner: []uint16{0, 0, 1, 1}}
	if got := RatiosOf(tr, alone, []float64{1, 0, 0}, p, good); !near(got.Mean, 1.5) || !near(got.Counted, 1) {
		t.Errorf("two placements: %+v", got)
	}
}

// TestRatiosAreAboveOne checks that the bound is a bound: no placement of any
// items is below it, and a constant never makes the ratio larger.
func TestRatiosAreAboveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slaves := rapid.IntRange(1, 4).Draw(t, "slaves")
		costs := rapid.SliceOfN(rapid.Uint32Range(0, 50), 1, 8).Draw(t, "costs")
		p := Placement{Slaves: slaves}
		for range costs {
			p.Owner = append(p.Owner, uint16(rapid.IntRange(0, slaves-1).Draw(t, "owner")))
		}
		tr := made(len(costs), [][]uint32{costs})
		last := math.Inf(1)
		for _, query := range []float64{0, 5, 500} {
			r := RatiosOf(tr, NamedCosts{"", CostModel{Query: query, Examined: 1}}, []float64{1}, p)
			if slices.Max(costs) == 0 {
				continue
			}
			if r.P50 < 1-1e-9 || r.P50 > last+1e-9 || r.P50 != r.Max {
				t.Errorf("ratio %v after %v with a constant of %v", r.P50, last, query)
			}
			last = r.P50
		}
	})
}

func TestStudyModels(t *testing.T) {
	names := map[string]bool{}
	for i, m := range StudyModels(DefaultCosts(), 100) {
		if names[m.Name] || i < 3 != (m.Query == 0) {
			t.Errorf("model %d: %+v", i, m)
		}
		names[m.Name] = true
	}
}
