package wait

import (
	"sync"
	"time"
)

// Limiter allows Burst events at once, and one more each time that Every has passed. Set both, above 0; it may be
// used by many goroutines.
type Limiter struct {
	Burst int
	Every time.Duration

	mu   sync.Mutex
	full time.Time // when all of Burst are allowed again
}

// Allow reports whether an event may happen at a moment, and counts it if so.
func (l *Limiter) Allow(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full.Before(now) {
		l.full = now
	}
	if l.full.Sub(now) > time.Duration(l.Burst-1)*l.Every {
		return false
	}
	l.full = l.full.Add(l.Every)
	return true
}
