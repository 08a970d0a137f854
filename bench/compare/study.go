package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"time"

	"adshard/balance"
	"adshard/bench/trace"
	"adshard/bench/workload"
)

// Placed is a row of the study: what a way to place the groups is worth for a workload on
// a number of slaves, computed only from the trace.
type Placed struct {
	Workload  string `json:"workload"`
	Slaves    int    `json:"slaves"`
	Placement string `json:"placement"`
	// Iterations is how many iterations the strategy needed until it proposed nothing more.
	Iterations int `json:"iterations,omitempty"`
	// Course is what the strategy moved until then and after the changes; nil for a placement
	// without a strategy.
	Course *Course `json:"course,omitempty"`
	// Pairs is how many pairs of a term and an item each slave reported per second, on
	// average, if the strategy asked for topics.
	Pairs float64 `json:"pairs,omitempty"`
	Judgement
	// Ratios judges single queries, by each of the cost models.
	Ratios []Ratios `json:"ratios"`
}

// RandomGroups names the placement of each group at random: the baseline that needs no
// balancer.
const RandomGroups = "random groups"

// StudyOptions says what is studied.
type StudyOptions struct {
	Costs CostModel
	// Call is the cost of a call to a slave besides its search, in microseconds; Ratios are
	// given with and without it.
	Call float64
	// Slaves are the numbers of slaves. Strategies place the groups, besides RandomGroups. A
	// strategy that iterates sees the load of each group as in the trace, may move the share
	// studyBudget of all groups in an iteration, and its moves take no time.
	Slaves     []int
	Strategies []string
	// Rate is queries per second, Interval the time between two iterations: together they
	// decide how often slaves sample topics, which the trace does not give.
	Rate     float64
	Interval time.Duration
	// Unseen: one half of the distinct queries is asked while strategies place the groups,
	// and placements are judged by the other half.
	Unseen   bool
	Seed     uint64
	Own      Own // strategies besides those of package strategy
	Progress func(text string)
}

const (
	// randomSeeds is the number of random placements that are judged; the study gives their
	// mean.
	randomSeeds = 5
	// rest is the number of iterations without a proposal after which a strategy has come to
	// rest.
	rest = 3
)

// Study judges placements for the first mix of one workload.
func Study(ctx context.Context, t *trace.Trace, w *workload.Workload, o StudyOptions) ([]Placed, error) {
	_, queries := o.mix(w, 0)
	var out []Placed
	for _, n := range o.Slaves {
		row := Placed{Workload: w.Name, Slaves: n, Placement: RandomGroups}
		var draws []Placement
		for seed := range uint64(randomSeeds) {
			draws = append(draws, scattered(t, n, o.Seed+seed))
			row.add(Judge(t, o.Costs, queries, draws[seed]))
		}
		row.scale(1.0 / randomSeeds)
		row.Ratios = o.ratios(t, queries, draws...)
		out = append(out, row)
		for _, name := range o.Strategies {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if o.Progress != nil {
				o.Progress(fmt.Sprintf("%s, %d slaves, %s", w.Name, n, name))
			}
			s, err := o.Own.Named(name)
			if err != nil {
				return nil, err
			}
			row, p, err := o.travel(ctx, t, w, s, n)
			if err != nil {
				return nil, err
			}
			row.Workload, row.Judgement, row.Ratios = w.Name, Judge(t, o.Costs, queries, p), o.ratios(t, queries, p)
			out = append(out, row)
		}
	}
	return out, nil
}

// mix returns the weights of the queries asked in a phase while strategies place the
// groups, and of the queries by which placements are judged.
func (o *StudyOptions) mix(w *workload.Workload, phase int) (asked, judged []float64) {
	if o.Unseen {
		return halves(w.Weights(phase), o.Seed)
	}
	return w.Weights(phase), w.Weights(phase)
}

// halves divides the queries into two disjoint halves. The weights of each sum to 1 again.
func halves(queries []float64, seed uint64) (first, second []float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	both := [2][]float64{make([]float64, len(queries)), make([]float64, len(queries))}
	var sums [2]float64
	for q, share := range queries {
		half := r.IntN(2)
		both[half][q] = share
		sums[half] += share
	}
	for half, list := range both {
		for q := range list {
			list[q] /= sums[half]
		}
	}
	return both[0], both[1]
}

// ratios judges single queries by each cost model.
func (o *StudyOptions) ratios(t *trace.Trace, queries []float64, p ...Placement) (out []Ratios) {
	for _, m := range StudyModels(o.Costs, o.Call) {
		out = append(out, RatiosOf(t, m, queries, p...))
	}
	return out
}

// scattered places each item at random.
func scattered(t *trace.Trace, slaves int, seed uint64) Placement {
	p := Placement{Slaves: slaves, Owner: make([]uint16, len(t.Keys))}
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range p.Owner {
		p.Owner[i] = uint16(r.IntN(slaves))
	}
	return p
}

// atOnce returns the operations, followed by those that complete their moves at once.
func atOnce(ops []balance.Op) []balance.Op {
	out := append([]balance.Op(nil), ops...)
	for _, kind := range []balance.OpKind{balance.OpSwitch, balance.OpFinish} {
		for _, o := range ops {
			if o.Kind == balance.OpStart {
				out = append(out, balance.Op{Kind: kind, Slice: o.Slice})
			}
		}
	}
	return out
}

// loads holds a trace's loads as a strategy sees them: the load of every item above least
// is known.
type loads struct {
	t     *trace.Trace
	load  []float64
	least float64
	sums  []float64 // before the i-th item
	m     *balance.Model
	at    map[uint64]balance.Interval
}

func newLoads(t *trace.Trace, load []float64, m *balance.Model) *loads {
	l := &loads{t: t, load: load, m: m, sums: make([]float64, len(load)+1), at: make(map[uint64]balance.Interval)}
	for i, v := range load {
		l.sums[i+1] = l.sums[i] + v
	}
	for _, s := range m.Slices() {
		l.at[s.ID] = balance.Interval{Lo: s.Lo, Hi: s.Hi}
	}
	return l
}

// first returns the index of the first item not below k.
func (l *loads) first(k balance.Key) int {
	return sort.Search(len(l.t.Keys), func(i int) bool { return l.t.Keys[i] >= k })
}

// after returns the index of the first item above k.
func (l *loads) after(k balance.Key) int {
	return sort.Search(len(l.t.Keys), func(i int) bool { return l.t.Keys[i] > k })
}

// Slice implements balance.Loads.
func (l *loads) Slice(id uint64) float64 {
	v := l.at[id]
	return l.sums[l.after(v.Hi)] - l.sums[l.first(v.Lo)]
}

// Hot implements balance.Loads.
func (l *loads) Hot(lo, hi balance.Key, visit func(balance.Key, float64) bool) {
	for i, end := l.first(lo), l.after(hi); i < end; i++ {
		if l.load[i] > l.least && !visit(l.t.Keys[i], l.load[i]) {
			return
		}
	}
}

// Measured implements balance.Loads.
func (l *loads) Measured() bool { return l.sums[len(l.sums)-1] > 0 }

// add adds another judgement to this one, field by field.
func (j *Judgement) add(k Judgement) { j.each(&k, func(a, b *float64) { *a += *b }) }

func (j *Judgement) scale(by float64) { j.each(j, func(a, _ *float64) { *a *= by }) }

func (j *Judgement) each(k *Judgement, do func(a, b *float64)) {
	do(&j.MaxOverMean, &k.MaxOverMean)
	do(&j.Bound, &k.Bound)
	do(&j.Expected, &k.Expected)
	do(&j.Mean, &k.Mean)
	do(&j.P50, &k.P50)
	do(&j.P99, &k.P99)
	do(&j.BoundMean, &k.BoundMean)
	do(&j.OneAtATime, &k.OneAtATime)
	do(&j.Saturated, &k.Saturated)
}
