package collector

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
)

// CheckEvery is how often a collector checks campaigns that got clicks.
const CheckEvery = checkEvery

// Budgets returns the budgets of campaigns in a database.
func Budgets(ctx context.Context, db backend.Store, ids ...uint64) ([]events.Budget, error) {
	return campaigns{db}.Budgets(ctx, ids)
}

// SetShare sets a campaign's share in a database as a collector does.
func SetShare(ctx context.Context, db backend.Store, campaign uint64, share uint32) error {
	return campaigns{db}.SetShare(ctx, campaign, share)
}

// Store returns the collector's database of events.
func (c *Collector) Store() store.Store { return c.store }

// Pace decides on shares, if it is time to do so, and sets them.
func (c *Collector) Pace(ctx context.Context) error { return c.pacing.Round(ctx) }

// Open is New with a clock.
var Open = open

// NoSweeps turns off sweeps of all budgets other than those by Sweep. It must be called before Run.
func (c *Collector) NoSweeps() { c.watches[1].look = func(context.Context) error { return nil } }

// Sweep checks all budgets now.
func (c *Collector) Sweep(ctx context.Context) error { return c.budgets.Sweep(ctx) }

// Places returns a channel with one element for each batch in progress.
func (c *Collector) Places() chan struct{} { return c.handler.places }

// Parse parses a body.
func Parse(body []byte) error {
	_, err := parse(body)
	return err
}

// Forget removes old events.
func (c *Collector) Forget(ctx context.Context) error { return c.counter.Forget(ctx) }

// Learn runs a round of learning, if it is time to do so.
func (c *Collector) Learn(ctx context.Context) error { return c.learning.round(ctx) }

// Learns reports whether the collector learns.
func (c *Collector) Learns() bool { return c.learning != nil }

// Rounds returns what the metrics show of rounds of learning, by outcome, and of the last round.
func (c *Collector) Rounds() map[string]float64 {
	m, registry, out := c.learning.metrics, prometheus.NewRegistry(), make(map[string]float64)
	registry.MustRegister(m.rounds, m.changed, m.last)
	families, _ := registry.Gather() // there is no error for what was just registered
	for _, f := range families {
		for _, x := range f.Metric {
			switch {
			case len(x.Label) > 0:
				out[x.Label[0].GetValue()] = x.Counter.GetValue()
			case x.Counter != nil:
				out["changed"] = x.Counter.GetValue()
			default:
				out["last"] = x.Gauge.GetValue()
			}
		}
	}
	return out
}

// Learnable returns the number of places and days with counts to learn from on a day.
func (c *Collector) Learnable(ctx context.Context, day time.Time) (n int, err error) {
	counts, _, err := c.learning.counts(ctx, store.Day(day.Unix()/(24*60*60)))
	if counts != nil {
		for range counts.All() {
			n++
		}
	}
	return n, err
}

// LearningKey is where notes about learning are stored.
const LearningKey = learningKey
