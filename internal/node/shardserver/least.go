package shardserver

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/search"
)

const (
	// mostWaiting bounds the searches that wait for changes at the same time, since each of them holds a place.
	mostWaiting = 16
	// tellMargin bounds the time that is reserved for telling the master that a search waited in vain.
	tellMargin = 100 * time.Millisecond
)

// holds waits until the store has all changes up to a position. Errors: fault.Behind if it does not have them in
// time, or if too many searches are waiting already; fault.Conflict if the store has a different change at that
// clock.
func (s *Server) holds(ctx context.Context, least search.Position) error {
	if p := s.store.Position(); p.GetClock() < least.Clock {
		if err := s.waitFor(ctx, least.Clock); err != nil {
			return err
		}
	}
	p := s.store.Position()
	if p.GetClock() == least.Clock && p.GetMark() != 0 && least.Mark != 0 && p.GetMark() != least.Mark {
		return fault.Newf(fault.Conflict, "slave: search",
			"the change at clock %d that min_clock names is of another history of the database; take the position of a newer change", least.Clock)
	}
	return nil
}

// waitFor waits until the store has applied the changes up to a clock.
func (s *Server) waitFor(ctx context.Context, clock uint64) error {
	behind := func() error {
		return fault.Newf(fault.Behind, "slave: search", "the slave has applied the changes up to clock %d, need %d: ask again later",
			s.store.Position().GetClock(), clock)
	}
	ctx, done, ok := s.wait(ctx)
	if !ok {
		return behind()
	}
	defer done()
	if s.reach(ctx, clock) != nil {
		return behind()
	}
	return nil
}

// wait returns a context for waiting. It ends early enough to report that the wait was in vain. ok is false if too
// many searches are waiting already.
func (s *Server) wait(ctx context.Context) (_ context.Context, done func(), ok bool) {
	if s.waiting.Add(1) > mostWaiting {
		s.waiting.Add(-1)
		return ctx, nil, false
	}
	cancel := func() {}
	if deadline, ok := ctx.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/10, tellMargin)))
	}
	return ctx, func() { cancel(); s.waiting.Add(-1) }, true
}
