package compare

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adshard/bench/cluster"
	"adshard/internal/node/httpapi/api"
)

// watch reads once a second what a cluster reports.
type watch struct {
	l       *live
	names   []string // of the slaves
	start   time.Time
	judge   *judge
	samples []Sample
	first   *api.BalanceStatus
	last    *api.BalanceStatus
	times   []cluster.Histogram // search times of each slave, as last read
	thrash  thrash

	cancel context.CancelFunc
	done   sync.WaitGroup
	err    error // the first error of a reading; read after done
	missed int   // readings that failed
}

func newWatch(l *live) *watch {
	w := &watch{l: l, judge: newJudge(l.t, l.w, l.o), times: make([]cluster.Histogram, l.o.Slaves)}
	for i := range l.o.Slaves {
		w.names = append(w.names, cluster.SlaveName(i))
	}
	w.thrash = newThrash(l.o.Interval)
	return w
}

// begin reads the status at once, and then takes a sample every second until
// end is called.
func (w *watch) begin(ctx context.Context) (err error) {
	w.start = time.Now()
	if w.first, err = w.l.cluster.Status(ctx); err != nil {
		return err
	}
	if err := w.placed(ctx, 0); err != nil {
		return err
	}
	w.searches(ctx)
	ctx, w.cancel = context.WithCancel(ctx)
	w.done.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.read(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// end stops reading. It returns an error if no reading succeeded.
func (w *watch) end() error {
	w.cancel()
	w.done.Wait()
	if len(w.samples) == 0 {
		return fmt.Errorf("the balancer's status could not be read: %w", w.err)
	}
	if w.missed > 0 {
		w.l.run.Notes = append(w.l.run.Notes, fmt.Sprintf("the balancer did not report its status %d times: %v", w.missed, w.err))
	}
	return nil
}

// read takes one sample.
func (w *watch) read(ctx context.Context) {
	at := time.Since(w.start)
	s, err := w.l.cluster.Status(ctx)
	if err == nil && s.View != w.judge.view {
		err = w.placed(ctx, at)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.missed++
		if w.err == nil {
			w.err = err
		}
		return
	}
	w.last = s
	found := w.judge.at(at)
	w.samples = append(w.samples, Sample{
		At: at.Seconds(), Load: w.ofSlaves(s, func(i int) float64 { return s.Slaves[i].Load }),
		Items: w.itemsOf(s), MaxOverMean: s.MaxOverMean, Bound: s.LowerBound, PerQuery: found.Expected, Traced: found.MaxOverMean,
		SlaveP99: w.searches(ctx), InFlight: len(s.MovesInFlight), MovedItems: s.Moved.Items - w.first.Moved.Items,
	})
	w.l.progress("load", at.Seconds()/w.l.o.Duration.Seconds())
}

// placed reads where the groups are.
func (w *watch) placed(ctx context.Context, at time.Duration) error {
	list, view, err := w.l.cluster.Slices(ctx)
	if err != nil {
		return err
	}
	w.thrash.add(list, at)
	return w.judge.placed(list, w.names, view)
}

// ofSlaves returns a value of each slave, in the order of the slaves' numbers.
func (w *watch) ofSlaves(s *api.BalanceStatus, of func(int) float64) []float64 {
	out := make([]float64, len(w.names))
	for i := range s.Slaves {
		if n := slices.Index(w.names, s.Slaves[i].Name); n >= 0 {
			out[n] = of(i)
		}
	}
	return out
}

func (w *watch) itemsOf(s *api.BalanceStatus) (out []int) {
	for _, v := range w.ofSlaves(s, func(i int) float64 { return float64(s.Slaves[i].Items) }) {
		out = append(out, int(v))
	}
	return out
}

// searches returns the p99 of each slave's searches since the previous
// reading, in milliseconds, or 0 if there were none.
func (w *watch) searches(ctx context.Context) []float64 {
	out := make([]float64, len(w.times))
	for i := range w.times {
		h, err := w.l.cluster.SearchTimes(ctx, i)
		if err != nil {
			continue // a slave that is busy or gone has no figure
		}
		out[i] = 1e3 * h.Since(w.times[i]).Quantile(0.99)
		w.times[i] = h
	}
	return out
}

// moved adds the figures of the moves.
func (w *watch) moved(r *Run) {
	if w.last == nil {
		return
	}
	weight := 0.0
	for _, v := range w.l.t.Weights {
		weight += float64(v)
	}
	r.Add("moves", "", float64(w.last.Moved.Moves-w.first.Moved.Moves))
	r.Add("cancelled", "moves", float64(w.last.Moved.Cancelled-w.first.Moved.Cancelled))
	r.Add("groups moved", "", float64(w.last.Moved.Items-w.first.Moved.Items))
	r.Add("bytes moved", "MiB", float64(w.last.Moved.Bytes-w.first.Moved.Bytes)/(1<<20))
	r.Add("data moved", "% of all", 100*w.thrash.weight/max(weight, 1))
	w.judge.least(r, w.thrash.weight)
	r.Add("thrash", "moves", float64(w.thrash.count))
	for i := len(w.last.Events) - 1; i >= 0; i-- {
		r.Events = append(r.Events, w.last.Events[i].Text)
	}
}
