package master

import (
	"context"
	"net/http"
	"sync"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
	"adshard/internal/node/ports"
	"adshard/internal/node/querylog"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/tracing"
)

// written holds what a master uses to record queries. Fields that are nil are switched off.
type written struct {
	slow     *querylog.Slow
	explain  func(ctx context.Context, query, of string) (any, error)
	recorder *querylog.Recorder
	tracer   *tracing.Tracer
}

// writeDown sets up the logs of searches that the configuration asks for; `explaining` explains the
// slowest search.
func (m *Master) writeDown(c *searchapi.Config, explaining *searchapi.Handler, port *ports.Ports) error {
	if m.cfg.SlowQueries.After > 0 {
		slow := querylog.NewSlow(m.cfg.SlowQueries.After, m.log)
		m.written.slow = slow
		m.written.explain = func(ctx context.Context, query, of string) (any, error) {
			return explaining.Explanation(ctx, query, of)
		}
		c.Timed, c.Observer = true, observers{c.Observer, slow}
		port.Slow = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { httpapi.WriteJSON(w, http.StatusOK, slow.Slowest()) })
	}
	if m.cfg.QueryLog.File != "" {
		r, err := querylog.NewRecorder(m.cfg.QueryLog, m.log)
		if err != nil {
			return err
		}
		m.written.recorder, c.Arrived = r, r.Record
		metrics.Count(port.Registerer(m.cfg.Name), "adshard_query_log_lost_total", "Searches that could not be recorded.",
			func() float64 { return float64(r.Lost()) })
	}
	var err error
	if m.written.tracer, err = tracing.Open(m.cfg.Traces, "master", m.cfg.Name, m.log); err != nil {
		return err
	}
	m.written.tracer.Register(port.Registerer(m.cfg.Name))
	c.Tracer = m.written.tracer
	return nil
}

// run works until ctx is done.
func (w *written) run(ctx context.Context) {
	var all sync.WaitGroup
	if w.slow != nil {
		all.Go(func() { w.slow.Run(ctx, w.explain) })
	}
	if w.recorder != nil {
		all.Go(func() { w.recorder.Run(ctx) })
	}
	all.Wait()
}

// close writes what is left. No search may be under way.
func (w *written) close() {
	if w.recorder != nil {
		_ = w.recorder.Close() // data that could not be written was logged and counted
		w.recorder = nil
	}
	w.tracer.Close()
	w.tracer = nil
}

// observers is an Observer that passes everything on to several.
type observers []searchapi.Observer

// Observe implements searchapi.Observer.
func (o observers) Observe(seen *searchapi.Observation) {
	for _, each := range o {
		each.Observe(seen)
	}
}
