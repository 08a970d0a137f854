package collector

import (
	"context"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
)

// What tests look at.
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

// Sweep looks at all budgets now.
func (c *Collector) Sweep(ctx context.Context) error { return c.budgets.Sweep(ctx) }

// Places has one element for each batch under way.
func (c *Collector) Places() chan struct{} { return c.handler.places }

// Parse reads a body.
func Parse(body []byte) error {
	_, err := parse(body)
	return err
}
