package balancer

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/survey"
)

// What the admin port asks of the mapper, and tells it.

// maxEvents bounds what is kept of what happened.
const maxEvents = 100

// steering is what people told a balancer, and what happened lately.
type steering struct {
	// options are those set of the strategy in use; told: by command, not by
	// configuration.
	options   map[string]string
	byCommand bool
	events    []pastEvent // the newest last
}

// pastEvent is an event with its time.
type pastEvent struct {
	at time.Time
	balance.Event
}

// add keeps an event.
func (s *steering) add(e balance.Event) {
	if len(s.events) == maxEvents {
		s.events = append(s.events[:0], s.events[1:]...)
	}
	s.events = append(s.events, pastEvent{time.Now(), e})
}

// survey returns a survey that is new enough; nil before the first plan. The
// larger the cluster the older it may be. The caller holds b.mu.
func (b *Balancer) survey() *survey.Survey {
	if old := b.surveyed; old != nil {
		age := time.Since(old.At)
		if age < resurvey*old.Took || age < resurveyLeast && old.In.Model == b.mapper.Model() {
			return old
		}
	}
	return b.newSurvey()
}

// newSurvey returns a survey of this moment; nil before the first plan. Its items
// and judgements are good until b.mu is given back.
func (b *Balancer) newSurvey() *survey.Survey {
	in, ok := b.mapper.Input(b.now())
	if !ok {
		return nil
	}
	b.surveyed = survey.New(in, time.Now())
	return b.surveyed
}

// waitForModel waits until the model is as it is to be. Errors: fault.Deadline with
// what, when ctx is over first.
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
			return fault.Newf(fault.Deadline, "balancer: control", "%s, but it has not begun yet: look again in a moment", what)
		}
	}
}

// distributorOf returns the address of a slave's distributor; "": the balancer,
// or nobody. The caller holds b.mu.
func (b *Balancer) distributorOf(slave string) string {
	address, err := b.distributors.assigned(slave, time.Now())
	if err != nil {
		return ""
	}
	return address
}

const (
	// resurvey is how many times as long as it took a survey is good for: each
	// looks at all items. resurveyLeast is how long at least, while the model is
	// the same.
	resurvey      = 20
	resurveyLeast = 2 * time.Second
)
