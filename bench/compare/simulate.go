package compare

import (
	"context"
	"fmt"
	"iter"
	"time"

	"adshard/balance/cluster"
	"adshard/balance/sim"
	"adshard/bench/trace"
	"adshard/bench/workload"
)

// Options says how strategies are compared.
type Options struct {
	// Initial is the strategy that places the groups at the start; "": each
	// strategy places them itself.
	Initial string
	Slaves  int
	// Rate is the mean number of queries per second during Duration; 0: the times
	// of a recorded log.
	Rate     float64
	Duration time.Duration
	// Interval is the time between two iterations of a strategy.
	Interval time.Duration
	Costs    CostModel
	Seed     uint64
	// Own holds strategies that can be named in addition to those of package
	// strategy.
	Own Own
	// Progress, if not nil, is called with the share of a run that is done, 0 to 1.
	Progress func(strategy string, done float64)
}

// shifts returns when the mixes of a workload begin, in seconds, except the
// first.
func (o *Options) shifts(w *workload.Workload) (out []float64) {
	for i := 1; i < w.Phases(); i++ {
		if at := w.Begins(i, o.Duration); at < o.Duration {
			out = append(out, at.Seconds())
		}
	}
	return out
}

// Simulate runs one strategy in the simulator.
func Simulate(ctx context.Context, t *trace.Trace, w *workload.Workload, name string, o Options) (Run, error) {
	cfg, err := o.simConfig(t, name)
	if err != nil {
		return Run{}, err
	}
	next, stop := iter.Pull2(w.Events(o.Rate, o.Duration))
	defer stop()
	cfg.Trace = o.simTrace(ctx, t, name, next)
	began := time.Now()
	result, err := sim.Run(cfg)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Run{}, fmt.Errorf("simulate %s: %w", name, err)
	}
	run := o.simulated(t, w, name, result)
	run.Notes = append(run.Notes, fmt.Sprintf("simulated in %.1f s", time.Since(began).Seconds()))
	return run, nil
}

func (o *Options) simConfig(t *trace.Trace, name string) (sim.Config, error) {
	s, err := o.Own.Named(name)
	if err != nil {
		return sim.Config{}, err
	}
	initial := s
	if o.Initial != "" {
		if initial, err = o.Own.Named(o.Initial); err != nil {
			return sim.Config{}, err
		}
	}
	cfg := sim.Config{
		Seed: o.Seed, Slaves: o.Slaves, Order: t.Order, Strategy: s, Initial: initial,
		Mapper:      cluster.Config{Interval: o.Interval},
		QueryMicros: o.Costs.Query, Duration: o.Duration, Sample: time.Second,
	}
	for i, k := range t.Keys {
		cfg.Items = append(cfg.Items, sim.Item{Key: k, Weight: t.Weights[i]})
	}
	return cfg, nil
}

// simTrace returns the queries that `next` yields, with their costs; it ends
// with ctx.
func (o *Options) simTrace(ctx context.Context, t *trace.Trace, name string, next func() (time.Duration, int, bool)) sim.Trace {
	costs := make([][]sim.ItemCost, len(t.Queries))
	weights, told := o.Costs.weights(), 0.0
	return func() (sim.Query, bool) {
		at, q, ok := next()
		if !ok || ctx.Err() != nil {
			return sim.Query{}, false
		}
		if done := at.Seconds() / o.Duration.Seconds(); o.Progress != nil && done-told > 0.02 {
			told = done
			o.Progress(name, done)
		}
		if costs[q] == nil {
			costs[q] = []sim.ItemCost{}
			terms := t.Topics.Main(q)
			t.Query(q, func(c trace.Cost) {
				costs[q] = append(costs[q], sim.ItemCost{Key: t.Keys[c.Item], Micros: trace.Of(weights, c), Term: terms[c.Item]})
			})
		}
		return sim.Query{At: at, Items: costs[q]}, true
	}
}

// simulated makes a run from the simulator's result.
func (o *Options) simulated(t *trace.Trace, w *workload.Workload, name string, result *sim.Result) Run {
	run := Run{Strategy: name, Events: result.Events}
	seen := &observed{slaves: result.Slaves, shifts: o.shifts(w)}
	j := newJudge(t, w, *o)
	for _, s := range result.Samples {
		// Judge by the whole mix, not by the queries that happened to come.
		j.set(Place(t, s.Model), s.Model.View())
		found := j.at(s.At)
		seen.add(Sample{
			At: s.At.Seconds(), Load: s.Load, Items: s.Items,
			MaxOverMean: found.MaxOverMean, Bound: found.Bound, PerQuery: found.Expected,
			P50: millis(s.Latency.P50), P99: millis(s.Latency.P99),
			Queries: s.Queries, InFlight: s.InFlight, MovedItems: s.MovedItems,
		})
	}
	seen.balance(&run)
	o.moved(&run, t, j, result.Total)
	run.Add("queries", "", float64(result.Queries))
	run.Add("incomplete answers", "", float64(result.Queries-result.Complete))
	run.Add("groups missed in complete answers", "", float64(result.Missed))
	run.Add("groups doubled in complete answers", "", float64(result.Doubled))
	run.Add("slowest slave of a query ÷ the query's bound, all", "", result.Expected)
	run.Add("cost at a query's slowest slave, p50", "µs", micros(result.Critical.P50))
	run.Add("cost at a query's slowest slave, p99", "µs", micros(result.Critical.P99))
	seen.latencies(&run)
	run.Add("first fill", "s", result.Fill.Seconds())
	seen.series(&run)
	for _, text := range result.Troubles {
		run.Notes = append(run.Notes, "trouble: "+text)
	}
	return run
}

// moved adds the figures of moves, relative to the least that had to move.
func (o *Options) moved(run *Run, t *trace.Trace, j *judge, m sim.Totals) {
	total := 0.0
	for _, v := range t.Weights {
		total += float64(v)
	}
	run.Add("moves", "", float64(m.Moves))
	run.Add("cancelled", "moves", float64(m.Cancelled))
	run.Add("groups moved", "", float64(m.MovedItems))
	run.Add("data moved", "% of all", 100*float64(m.MovedWeight)/max(total, 1))
	j.least(run, float64(m.MovedWeight))
	run.Add("thrash", "moves", float64(m.Thrash))
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

func micros(d time.Duration) float64 { return d.Seconds() * 1e6 }
