package node

import (
	"time"

	"adshard/balance"
)

// What the admin port asks of the mapper. Callers hold b.mu.

// survey returns a survey that is new enough; nil before the first plan.
func (b *Balancer) survey() *measured {
	model := b.mapper.Model()
	if model == nil {
		return nil
	}
	if old := b.measured; old != nil && old.in.Model == model && time.Since(old.at) < resurvey {
		return old
	}
	b.measured = newMeasured(balance.Input{
		Model: model, Items: b.mapper.Items(), Order: b.order, Limits: b.mapper.Limits(),
	}, time.Now())
	return b.measured
}

// alive tells whether a slave has been heard of lately.
func (b *Balancer) alive(name string) bool {
	n, ok := b.slaves[name]
	return ok && time.Since(n.seen) < aliveFor
}
