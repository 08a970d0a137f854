package balancer

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
	"adshard/internal/node/survey"
)

// This file holds the parts of the mapper that the admin port shows and changes.

// maxEvents bounds the events that are kept.
const maxEvents = 100

// strategyEvents holds the options that were set, and the latest events.
type strategyEvents struct {
	// options are the options that are set for the strategy in use. byCommand says that a command
	// set them, not the configuration.
	options   map[string]string
	byCommand bool
	events    []pastEvent // oldest first
}

// pastEvent is an event with its time.
type pastEvent struct {
	at time.Time
	cluster.Event
}

// add appends an event and drops the oldest if there are too many. It leaves out the steps of views, which are many and
// tell an operator nothing.
func (s *strategyEvents) add(e cluster.Event) {
	if e.Step && e.Slice == 0 {
		return
	}
	if len(s.events) == maxEvents {
		s.events = append(s.events[:0], s.events[1:]...)
	}
	s.events = append(s.events, pastEvent{time.Now(), e})
}

// survey returns a recent survey, or nil before the first plan. The larger the
// cluster, the older it may be. The caller holds b.mu.
func (b *Balancer) survey() *survey.Survey {
	if old := b.surveyed; old != nil {
		age := time.Since(old.At)
		if age < resurvey*old.Took || age < resurveyLeast && old.In.Model == b.mapper.Model() {
			return old
		}
	}
	return b.newSurvey()
}

// newSurvey returns a survey of the present moment, or nil before the first plan. The caller holds
// b.mu; the survey's In is valid until b.mu is unlocked.
func (b *Balancer) newSurvey() *survey.Survey {
	in, ok := b.mapper.Input(b.now())
	if !ok {
		return nil
	}
	b.surveyed = survey.New(in, time.Now())
	return b.surveyed
}

// waitForModel waits until ok returns true for the model. `what` describes the order that was
// given. Errors: fault.Deadline, with `what`, if ctx is done first.
func (b *Balancer) waitForModel(ctx context.Context, what string, ok func(*balance.Model) bool) error {
	for {
		b.mu.Lock()
		model, changed := b.mapper.Model(), b.changed.Next()
		b.mu.Unlock()
		if model != nil && ok(model) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fault.Newf(fault.Deadline, "balancer: control", "%s, but that has not begun yet: look again in a moment", what)
		}
	}
}

// distributorFor returns the address of a slave's distributor, or "" for the balancer's own.
// Errors: fault.Unavailable if no distributor is alive. The caller holds b.mu.
func (b *Balancer) distributorFor(slave string) (address string, err error) {
	words := ""
	if n := b.slaves[slave]; n != nil {
		words = n.words
	}
	return b.distributors.assigned(slave, words, time.Now())
}

// distributorOf returns the address of a slave's distributor, or "" if that is the balancer's own
// or if no distributor is alive. The caller holds b.mu.
func (b *Balancer) distributorOf(slave string) string {
	address, err := b.distributorFor(slave)
	if err != nil {
		return ""
	}
	return address
}

const (
	// A survey covers all items. It is reused for resurvey times the time that it took to make, and
	// for at least resurveyLeast while the model stays the same.
	resurvey      = 20
	resurveyLeast = 2 * time.Second
)
