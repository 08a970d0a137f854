package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/bench/trace"
	"adshard/bench/workload"
)

// Placed is a row of the study: what a way to place the groups is worth for a
// workload on so many slaves, computed from the trace alone.
type Placed struct {
	Workload  string `json:"workload"`
	Slaves    int    `json:"slaves"`
	Placement string `json:"placement"`
	// Iterations is how many the strategy needed till it proposed nothing more.
	Iterations int `json:"iterations,omitempty"`
	Judgement
	// Ratios are of single queries, by each of the cost models.
	Ratios []Ratios `json:"ratios"`
}

// RandomGroups is the placement of each group by itself, at random: the
// baseline that needs no balancer.
const RandomGroups = "random groups"

// StudyOptions say what is studied.
type StudyOptions struct {
	Costs CostModel
	// Call is what a call to a slave costs besides its search, in microseconds;
	// Ratios are given with and without it.
	Call float64
	// Slaves are the numbers of slaves; Strategies place the groups, beside
	// RandomGroups. A strategy that iterates sees the load of each group as the
	// trace has it, and its moves take no time.
	Slaves     []int
	Strategies []string
	Seed       uint64
	Progress   func(text string)
}

const (
	// randomSeeds is how many random placements are judged; their mean is given.
	randomSeeds = 5
	// maxIterations ends a strategy that does not come to rest.
	maxIterations = 300
	// rest is after how many iterations without a proposal one has come to rest.
	rest = 3
)

// Study judges placements for the first mix of one workload.
func Study(ctx context.Context, t *trace.Trace, w *workload.Workload, o StudyOptions) ([]Placed, error) {
	queries := w.Weights(0)
	load := t.Load(queries, o.Costs.weights())
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
			p, iterations, err := settled(t, load, name, n)
			if err != nil {
				return nil, err
			}
			out = append(out, Placed{
				Workload: w.Name, Slaves: n, Placement: name, Iterations: iterations,
				Judgement: Judge(t, o.Costs, queries, p), Ratios: o.ratios(t, queries, p),
			})
		}
	}
	return out, nil
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

// settled is where a strategy has the items when it has come to rest.
func settled(t *trace.Trace, load []float64, name string, slaves int) (Placement, int, error) {
	s, err := strategy.Named(name)
	if err != nil {
		return Placement{}, 0, err
	}
	nodes := make([]balance.Node, slaves)
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("slave-%d", i)
	}
	in := balance.Input{Items: t.Index(), Order: t.Order}
	if in.Model, _, err = balance.Plan(s, t.Order, nodes, in.Items, nil); err != nil {
		return Placement{}, 0, err
	}
	for quiet := 0; quiet < rest && in.Iteration < maxIterations; in.Iteration++ {
		in.Loads = newLoads(t, load, in.Model)
		p, err := s.Iterate(in)
		if err != nil {
			return Placement{}, 0, fmt.Errorf("strategy %s: %w", name, err)
		}
		if len(p.Ops) == 0 {
			quiet++
			continue
		}
		quiet = 0
		if in.Model, err = in.Model.Apply(atOnce(p.Ops)); err != nil {
			return Placement{}, 0, fmt.Errorf("strategy %s made an impossible proposal: %w", name, err)
		}
	}
	return Place(t, in.Model), int(in.Iteration), nil
}

// atOnce has the moves that are started end at once.
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

// loads are a trace's loads as a strategy sees them: every item's is known.
type loads struct {
	t    *trace.Trace
	load []float64
	sums []float64 // before the i-th item
	m    *balance.Model
	at   map[uint64]balance.Interval
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
		if l.load[i] > 0 && !visit(l.t.Keys[i], l.load[i]) {
			return
		}
	}
}

// Measured implements balance.Loads.
func (l *loads) Measured() bool { return l.sums[len(l.sums)-1] > 0 }

// add sums judgements; scale multiplies them.
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
