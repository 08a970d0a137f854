package search

import (
	"slices"
	"sync"
	"time"
)

// Timing records how long the parts of one request take: the calls of a fan-out, the stages of a
// store. A nil Timing records nothing and costs nothing.
type Timing struct {
	mu    sync.Mutex
	parts []Part // under mu
}

// Part is a stage, or a call to a replica of a shard.
type Part struct {
	// Name is the name of the stage or shard. Replica is the replica that was called.
	Name, Replica string
	Began         time.Time
	Took          time.Duration
	Err           error
}

// Add adds a part.
func (t *Timing) Add(p Part) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = append(t.parts, p)
}

// Begin returns the time at which a stage begins.
func (t *Timing) Begin() time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Now()
}

// End adds a stage that ends now, and returns the time at which the next one begins.
func (t *Timing) End(stage string, began time.Time) time.Time {
	if t == nil {
		return began
	}
	now := time.Now()
	t.Add(Part{Name: stage, Began: began, Took: now.Sub(began)})
	return now
}

// Parts returns the parts so far, in the order in which they were added.
func (t *Timing) Parts() []Part {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.parts)
}
