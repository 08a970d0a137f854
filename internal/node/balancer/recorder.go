package balancer

import (
	"context"
	"fmt"
	"time"

	"adshard/internal/node/history"
	"adshard/internal/wait"
)

// historyKey is the key of the saved history, next to the model's key.
const historyKey = "/history"

// recorder records a balancer's history of the last day.
type recorder struct{ b *Balancer }

// load takes over the history that the last leader saved. One that cannot be read is lost, and nothing else.
func (r recorder) load(ctx context.Context) error {
	text, err := r.b.leadership.Load(ctx, historyKey)
	if err != nil {
		return fmt.Errorf("load the history of the last day: %w", err)
	}
	if err := r.b.history.Decode(text, time.Now()); err != nil {
		r.b.log.Warn("the history of the last day cannot be read; it begins anew", "err", err)
	}
	return nil
}

// run adds a sample a minute to the history until ctx is done.
func (r recorder) run(ctx context.Context) error {
	for {
		if err := wait.Sleep(ctx, history.Sampling); err != nil {
			return err
		}
		if !r.b.leadership.Valid() {
			continue
		}
		if err := r.add(ctx, time.Now()); err != nil {
			return err
		}
	}
}

// add adds a sample, and saves the history when an interval begins. Errors: fault.Conflict if another balancer
// has taken over. Other failures of the database cost an interval at most, when this balancer ends.
func (r recorder) add(ctx context.Context, now time.Time) error {
	if !r.b.history.Add(now, r.sample()) {
		return nil
	}
	return r.b.tolerate(ctx, r.b.leadership.Save(ctx, historyKey, r.b.history.Encode()), "cannot save the history of the last day; trying again later")
}

// sample returns what the balancer sees now.
func (r recorder) sample() history.Sample {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	st := r.b.mapper.Status(r.b.now())
	s := history.Sample{Traffic: r.b.masterReports.rates(r.b.now(), st.Masters)}
	m := r.b.survey()
	if m == nil {
		return s
	}
	s.MaxOverMean, s.Bound, s.Shadows = m.Even.Ratio(), m.Bound.MaxOverMean, make(map[string]float64)
	for _, v := range st.Shadows {
		if v.Refused == "" {
			s.Shadows[v.Strategy] = v.MaxOverMean
		}
	}
	return s
}
