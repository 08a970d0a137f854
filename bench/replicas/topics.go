package replicas

import (
	"context"
	"errors"
	"fmt"

	"adshard/bench/measure"
)

// topics measures how much is read and how long answers take with caches of one size, with
// and without preferring replicas by topic, in turns.
func (p *Plan) topics(ctx context.Context, report *measure.Report, part float64, cache uint64) (err error) {
	ways := []*reading{{way: twoRandom}, {way: byTopic}}
	for _, w := range ways {
		if w.group, err = p.open(cache, p.Replicas); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		w.ask = Chosen(w.slaves, w.way == byTopic)
		if err := w.pass(ctx, p); err != nil {
			return err
		}
		report.Add(name(part, w.way, "lists read, first pass"), "per query", w.lists[0])
		w.lists, w.bytes, w.busiest, w.times = nil, nil, nil, nil
	}
	for i := range p.Rounds {
		for j := range ways {
			if err := ways[(i+j)%2].pass(ctx, p); err != nil {
				return err
			}
		}
	}
	for _, w := range ways {
		report.AddRounds(name(part, w.way, "lists read"), "per query", w.lists)
		report.AddRounds(name(part, w.way, "bytes read"), "per query", w.bytes)
		report.AddRounds(name(part, w.way, "calls at the busiest replica"), "share", w.busiest)
		addTimes(report, name(part, w.way, ""), w.times)
	}
	return nil
}

// reading is a group of replicas, a way of asking them, and the results of the passes.
type reading struct {
	*group
	way                   string
	ask                   Asker
	lists, bytes, busiest []float64
	times                 []*measure.Latencies
}

// pass asks all queries once.
func (w *reading) pass(ctx context.Context, p *Plan) error {
	lists, bytes := w.read()
	_, before := w.calls()
	times, err := Each(ctx, p.Queries, p.Workers, w.ask)
	if err != nil {
		return err
	}
	listsNow, bytesNow := w.read()
	_, after := w.calls()
	n, busiest := float64(len(p.Queries)), int64(0)
	for i := range after {
		busiest = max(busiest, after[i]-before[i])
	}
	w.lists, w.bytes = append(w.lists, float64(listsNow-lists)/n), append(w.bytes, float64(bytesNow-bytes)/n)
	w.busiest, w.times = append(w.busiest, float64(busiest)/n), append(w.times, times)
	return nil
}

// name returns the name of a figure about caches that hold a share of the lists.
func name(part float64, way, quantity string) string {
	return fmt.Sprintf("cache of %g, %s: %s", part, way, quantity)
}

// levels lists the quantiles that reports and charts show.
var levels = []struct {
	name string
	at   float64
}{{"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.5", 0.995}, {"p99.9", 0.999}}

// addTimes adds the distribution of the rounds' latencies.
func addTimes(report *measure.Report, prefix string, rounds []*measure.Latencies) {
	for _, l := range levels {
		values := make([]float64, len(rounds))
		for i, r := range rounds {
			values[i] = r.Quantile(l.at).Seconds() * 1e6
		}
		report.AddRounds(prefix+l.name, "µs", values)
	}
}
