package documents

import (
	"context"
	"sync/atomic"
	"time"

	"adshard/internal/wait"
)

const (
	// beatEvery is the time between two beats, and stopped the time without one after which a process was stopped. A
	// master has a lease of at least a second, and calls at least twice within it: one that is silent for its lease
	// was stopped for longer.
	beatEvery = 100 * time.Millisecond
	stopped   = 400 * time.Millisecond
)

// Stops notices that this process has been stopped for a time: frozen, or with its machine. Make it with NewStops.
type Stops struct {
	tell func()
	last atomic.Pointer[beat]
}

// beat is a moment at which the process ran: by the clock that only goes on while its machine does, and by the wall clock.
type beat struct{ at, wall time.Time }

// NewStops returns a Stops that calls a function after each time that the process was stopped.
func NewStops(tell func()) *Stops {
	s := &Stops{tell: tell}
	s.keepOn(time.Now())
	return s
}

// Run notices stops until ctx is done.
func (s *Stops) Run(ctx context.Context) {
	s.keepOn(time.Now())
	for wait.Sleep(ctx, beatEvery) == nil {
		// After the check, so that whoever sees the new beat sees what the check did, but with its time: a stop in between is noticed next.
		s.keepOn(s.check())
	}
}

// Check notices a stop that has just ended, for what must not happen before. Run must be running.
func (s *Stops) Check() { s.check() }

func (s *Stops) check() (now time.Time) {
	last := s.last.Load()
	now = time.Now()
	if now.Sub(last.at) > stopped || now.Round(0).Sub(last.wall) > stopped {
		s.tell()
	}
	return now
}

func (s *Stops) keepOn(now time.Time) { s.last.Store(&beat{now, now.Round(0)}) }
