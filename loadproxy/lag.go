package loadproxy

import (
	"sync/atomic"
	"time"
)

// lagging is how long the store has been behind the head of the feed. Searches read it
// while the pulls write.
type lagging struct {
	start time.Time
	head  atomic.Int64 // when the store was last known to be at the head, since start
	pull  atomic.Int64 // when the pull under way began; 0: none is
}

// pulling notes that a pull begins.
func (l *lagging) pulling() { l.pull.Store(max(1, int64(time.Since(l.start)))) }

// pulled notes that it ended; head: the store was at the head until now.
func (l *lagging) pulled(head bool) {
	l.pull.Store(0)
	if head {
		l.head.Store(int64(time.Since(l.start)))
	}
}

// lag is the time since the store was at the head. While a pull is under way that is to
// be answered as soon as there is anything newer, none passes, for as long as it may
// wait: after that the link is cut.
func (l *lagging) lag(wait time.Duration) time.Duration {
	now := time.Since(l.start)
	lag := now - time.Duration(l.head.Load())
	if began := time.Duration(l.pull.Load()); began > 0 {
		lag -= min(now-began, wait)
	}
	return max(0, lag)
}

// Lag is how long the store has been behind the head of the feed, by this process' own
// clock.
func (p *Proxy) Lag() time.Duration { return p.behind.lag(p.cfg.Wait) }
