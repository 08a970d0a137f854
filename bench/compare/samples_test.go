package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/barrels/load"
	"adshard/bench/trace"
)

// topical returns a trace of queries with one topic each, which look at some of n
// items.
func topical(n, topics int) *trace.Trace {
	r := rand.New(rand.NewPCG(1, 1))
	var costs [][]uint32
	x := trace.Topics{Starts: []int{0}, Asked: []int{0}}
	for q := range topics {
		row := make([]uint32, n)
		for range 40 {
			row[r.IntN(n)] += 2
		}
		for i, c := range row {
			if c > 0 {
				x.Items, x.Postings = append(x.Items, uint32(i)), append(x.Postings, c)
			}
		}
		x.Terms, x.Starts = append(x.Terms, uint64(q+1)), append(x.Starts, len(x.Items))
		x.Of, x.Asked = append(x.Of, uint32(q)), append(x.Asked, q+1)
		costs = append(costs, row)
	}
	t := made(n, costs)
	t.Topics = x
	return t
}

// TestSamples: what slaves report about topics represents all that queries look
// at and is bounded, and every reported pair exists.
func TestSamples(t *testing.T) {
	tr := topical(300, 5)
	base, err := balance.NewModel([]balance.Shard{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	e := base.Edit()
	right, _ := e.Split(1, tr.Keys[150])
	_ = e.Map(right, 2)
	in := balance.Input{Items: tr.Index(), Order: tr.Order, Iteration: 5}
	if in.Model, err = e.Model(); err != nil {
		t.Fatal(err)
	}
	s := newSamples(tr, &StudyOptions{Rate: 500, Interval: 10 * time.Second, Seed: 1}, []float64{0.2, 0.2, 0.2, 0.2, 0.2})
	sum := 0.0
	for _, v := range s.topics(&in) {
		for _, item := range v.Items {
			i, ok := slices.BinarySearch(tr.Keys, item.Key)
			found := false
			tr.Topics.Term(uint32(v.Term-1), func(of, _ uint32) { found = found || int(of) == i })
			if !ok || !found {
				t.Fatalf("item %x is not of topic %d", uint64(item.Key), v.Term)
			}
			sum += item.Load
		}
	}
	if want := 500.0 * 80; math.Abs(sum-want) > 0.02*want {
		t.Errorf("the pairs have a load of %.0f, queries look at %.0f postings a second", sum, want)
	}
	if s.reports != 2*60 || s.pairs > s.reports*load.PairReport || s.pairs < s.reports*10 {
		t.Errorf("%d reports with %d pairs", s.reports, s.pairs)
	}
}

// TestHalves: no query is in both halves, and each half is a whole mix.
func TestHalves(t *testing.T) {
	queries := make([]float64, 100)
	for q := range queries {
		queries[q] = 0.01
	}
	a, b := halves(queries, 1)
	sums := [2]float64{}
	for q := range queries {
		if a[q] > 0 == (b[q] > 0) {
			t.Fatalf("query %d has %v and %v", q, a[q], b[q])
		}
		sums[0], sums[1] = sums[0]+a[q], sums[1]+b[q]
	}
	if !near(sums[0], 1) || !near(sums[1], 1) {
		t.Errorf("the halves sum to %v", sums)
	}
}

// TestStudyOfTopics: in a study, a strategy that uses topics can find them.
func TestStudyOfTopics(t *testing.T) {
	tr, queries := topical(300, 50), make([]float64, 50)
	for q := range queries {
		queries[q] = 0.02
	}
	costs := CostModel{Examined: 1}
	o := &StudyOptions{Costs: costs, Rate: 50, Interval: 10 * time.Second, Seed: 1}
	excess := func(p Placement) float64 {
		return RatiosOf(tr, NamedCosts{WorkAlone, costs}, queries, p).P50 - 1
	}
	s, err := strategy.Named("topics")
	if err != nil {
		t.Fatal(err)
	}
	in, err := begun(tr, s, 6)
	if err != nil {
		t.Fatal(err)
	}
	pupil := o.learning(tr, s, queries)
	c, err := pupil.follow(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	before, after := excess(scattered(tr, 6, 1)), excess(Place(tr, in.Model))
	t.Logf("excess %.3f at random, %.3f with topics; %+v", before, after, c)
	if after > 0.8*before || c.Moved == 0 || c.Moved > 1.5 || pupil.known.mean() == 0 || !c.Rested {
		t.Error("topics are not spread, or not at rest")
	}
	for _, knew := range []bool{true, false} {
		later := in
		if !knew {
			later.Memory = nil
		}
		again, err := o.learning(tr, s, queries).follow(t.Context(), &later)
		if err != nil {
			t.Fatal(err)
		}
		if knew == (again.Moved > 0.1) || again.Iterations < restTopics {
			t.Errorf("started again, remembering anything: %v; %+v", knew, again)
		}
	}
}
