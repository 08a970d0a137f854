package balancer

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"

	"adshard/fault"
)

// succession ends a balancer so that another one takes its place.
type succession struct {
	leadership *leadership
	log        *slog.Logger
	mu         sync.Mutex    // locked while the balancer prepares to end
	begun      chan struct{} // closed when another balancer is to take its place
}

// succeed ends this balancer, so that a successor takes its place whose epoch is above both `epoch`
// and this balancer's. If `timeline` is set, a new timeline begins. succeed always returns an
// error: fault.Unavailable if the successor is about to start, fault.Conflict if another process
// has already replaced this balancer.
func (s *succession) succeed(ctx context.Context, epoch uint64, timeline bool, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOver() {
		if timeline {
			if err := s.leadership.Save(ctx, timelineKey, []byte(rand.Text())); err != nil {
				return err
			}
		}
		if err := s.leadership.Raise(ctx, epoch); err != nil {
			return err
		}
		s.handOver("why", why, "new_timeline", timeline)
	}
	return fault.Newf(fault.Unavailable, "balancer", "%s: the database was restored, and the balancer is starting over; ask again after a pause", why)
}

// restored ends this balancer because the database has the epoch of an earlier balancer.
func (s *succession) restored(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOver() {
		s.handOver("why", why)
	}
}

// isOver reports whether another balancer is to take this one's place.
func (s *succession) isOver() bool {
	select {
	case <-s.begun:
		return true
	default:
		return false
	}
}

// handOver ends Run, so that another balancer starts. It is called once, with mu locked.
func (s *succession) handOver(details ...any) {
	s.log.Warn("the database was restored to an earlier state; the balancer starts over", details...)
	close(s.begun)
}
