package collector

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
)

// CheckEvery is how often a collector looks at campaigns with clicks.
const CheckEvery = checkEvery

// Budgets returns those of campaigns in a database.
func Budgets(ctx context.Context, db backend.Store, ids ...uint64) ([]events.Budget, error) {
	return campaigns{db}.Budgets(ctx, ids)
}

// SetShare sets a campaign's share in a database, as a collector does.
func SetShare(ctx context.Context, db backend.Store, campaign uint64, share uint32) error {
	return campaigns{db}.SetShare(ctx, campaign, share)
}

// Store is the collector's.
func (c *Collector) Store() store.Store { return c.store }

// Pace decides on shares, if it is time to, and sets them.
func (c *Collector) Pace(ctx context.Context) error { return c.pacing.Round(ctx) }

// Open is New with a clock.
var Open = open

// NoSweeps leaves the looks at all budgets to Sweep. It is called before Run.
func (c *Collector) NoSweeps() { c.watches[1].look = func(context.Context) error { return nil } }

// Sweep looks at all budgets now.
func (c *Collector) Sweep(ctx context.Context) error { return c.budgets.Sweep(ctx) }

// Places has one element for each batch under way.
func (c *Collector) Places() chan struct{} { return c.handler.places }

// Parse reads a body.
func Parse(body []byte) error {
	_, err := parse(body)
	return err
}

// Forget removes old events.
func (c *Collector) Forget(ctx context.Context) error { return c.counter.Forget(ctx) }

// Learn learns, if it is time to.
func (c *Collector) Learn(ctx context.Context) error { return c.learning.round(ctx) }

// Learns reports whether it learns.
func (c *Collector) Learns() bool { return c.learning != nil }

// Rounds returns what metrics say of rounds of learning, by outcome, and of the last one.
func (c *Collector) Rounds() map[string]float64 {
	m, registry, out := c.learning.metrics, prometheus.NewRegistry(), make(map[string]float64)
	registry.MustRegister(m.rounds, m.changed, m.last)
	families, _ := registry.Gather() // of what was registered without an error
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

// Learnable returns for how many places and days there are counts to learn from on a day.
func (c *Collector) Learnable(ctx context.Context, day time.Time) (n int, err error) {
	counts, _, err := c.learning.counts(ctx, store.Day(day.Unix()/(24*60*60)))
	if counts != nil {
		for range counts.All() {
			n++
		}
	}
	return n, err
}

// LearningKey is where notes of learning are kept.
const LearningKey = learningKey
