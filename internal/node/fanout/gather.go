package fanout

import (
	"adshard/fault"
)

// Step is what the caller does next.
type Step uint8

// The steps.
const (
	Wait   Step = iota // for further replies
	Enough             // there will be no further replies
	Again              // the view is stale: ask all again with a newer map
)

// Gather decides when the replies of shards are enough. It takes events and uses
// neither clock nor network. A is the type of an answer.
type Gather[A any] struct {
	shards  []Shard
	answers []*A    // by shard; nil: none
	errs    []error // by shard; nil: none yet, or answered
	open    int     // shards that have neither answered nor failed
	retried bool    // Again was returned once
	over    bool
}

// Begin starts over with these shards: at first, and after Again.
func (g *Gather[A]) Begin(shards []Shard) {
	g.shards, g.open, g.over = shards, len(shards), false
	g.answers = make([]*A, len(shards))
	g.errs = make([]error, len(shards))
}

// Answered notes shard i's answer.
func (g *Gather[A]) Answered(i int, a *A) Step {
	if g.over || g.answers[i] != nil || g.errs[i] != nil {
		return g.step()
	}
	g.answers[i] = a
	g.open--
	return g.step()
}

// Failed notes that shard i cannot answer. When a shard no longer serves the view,
// it returns Again, once; a caller without a newer map continues with this one.
func (g *Gather[A]) Failed(i int, err error) Step {
	if g.over || g.answers[i] != nil || g.errs[i] != nil {
		return g.step()
	}
	g.errs[i] = err
	g.open--
	if fault.Is(err, fault.Stale) && !g.retried {
		g.retried = true
		return Again
	}
	return g.step()
}

// TooLate notes that the deadline has passed: shards without an answer are missing.
func (g *Gather[A]) TooLate() Step {
	g.over = true
	return Enough
}

func (g *Gather[A]) step() Step {
	if g.over || g.open == 0 {
		return Enough
	}
	return Wait
}

// Err returns fault.Overloaded if all shards refused for that reason: then
// the cluster is overloaded. In all other cases missing shards are no error.
func (g *Gather[A]) Err() error {
	var first error
	for i := range g.shards {
		if !fault.Is(g.errs[i], fault.Overloaded) {
			return nil
		}
		if first == nil {
			first = g.errs[i]
		}
	}
	return first
}
