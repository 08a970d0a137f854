package balancer

import (
	"context"
	"fmt"
	"time"

	"adshard/fault"
	"adshard/internal/node/history"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/wait"
)

// historyKey is the key of the saved history, next to the model's key.
const historyKey = "/history"

// loadHistory takes over the history that the last leader saved. One that cannot be read is lost, and nothing else.
func (b *Balancer) loadHistory(ctx context.Context) error {
	text, err := b.leadership.Load(ctx, historyKey)
	if err != nil {
		return fmt.Errorf("load the history of the last day: %w", err)
	}
	if err := b.history.Decode(text, time.Now()); err != nil {
		b.log.Warn("the history of the last day cannot be read; it begins anew", "err", err)
	}
	return nil
}

// recordHistory adds a sample a minute to the history until ctx is done.
func (b *Balancer) recordHistory(ctx context.Context) error {
	for {
		if err := wait.Sleep(ctx, history.Sampling); err != nil {
			return err
		}
		if !b.leadership.Valid() {
			continue
		}
		if err := b.sampleHistory(ctx, time.Now()); err != nil {
			return err
		}
	}
}

// sampleHistory adds a sample, and saves the history when an interval begins. Errors: fault.Conflict if another balancer
// has taken over. Other failures of the database cost an interval at most, when this balancer ends.
func (b *Balancer) sampleHistory(ctx context.Context, now time.Time) error {
	if !b.history.Add(now, b.sample()) {
		return nil
	}
	return b.tolerate(ctx, b.leadership.Save(ctx, historyKey, b.history.Encode()), "cannot save the history of the last day; trying again later")
}

// sample returns what the balancer sees now.
func (b *Balancer) sample() history.Sample {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := b.mapper.Status(b.now())
	s := history.Sample{Traffic: b.masterReports.rates(b.now(), st.Masters)}
	m := b.survey()
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

// tolerate returns the error of a write only if another balancer has taken over. It starts over if the database was
// restored, and logs all other errors.
func (b *Balancer) tolerate(ctx context.Context, err error, what string) error {
	switch {
	case ctx.Err() != nil:
	case fault.Is(err, fault.Conflict):
		return err
	case fault.Is(err, fault.Stale):
		b.succession.restored(err)
	case err != nil:
		b.log.Warn(what, "err", err)
	}
	return nil
}

// BalanceHistory implements admin.Control.
func (c adminControl) BalanceHistory(context.Context) (*api.BalanceHistory, error) {
	now := time.Now()
	out := &api.BalanceHistory{IntervalMs: history.Interval.Milliseconds(), Points: []api.HistoryPoint{}}
	for _, p := range c.history.List(now) {
		v := api.HistoryPoint{AgeMs: max(0, now.Sub(p.At).Milliseconds()), Traffic: trafficMessage(p.Traffic), MaxOverMean: p.MaxOverMean, LowerBound: p.Bound, Shadows: p.Shadows}
		out.Points = append(out.Points, v)
	}
	return out, nil
}
