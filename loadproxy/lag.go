package loadproxy

import (
	"sync/atomic"
	"time"
)

// lagging is how long the store has been behind the head of the feed. Searches read it
// while the pulls write.
//
// A reply to a pull names the newest change that the distributor knows. Once the store has that
// change, it has everything that existed when the pull began. So a steady stream of changes, under
// which the store never reaches the head, does not make the lag grow. Changes that the distributor
// defers do count, although a pull waits.
type lagging struct {
	start  time.Time
	head   atomic.Int64 // when the store was last known to be at the head, since start
	pull   atomic.Int64 // when the pull under way began; 0: none is
	behind atomic.Bool  // the store is known to lack a change

	// What follows is the pulls' only.

	at     uint64     // the store's clock when the pull under way began
	newest uint64     // the newest change that was ever named
	marks  []landmark // by ascending clock; changes that the store lacks
}

// landmark is a change: a store that has it has everything that existed at its time.
type landmark struct {
	clock uint64
	when  int64 // since start
}

// maxMarks bounds the landmarks. When it is reached, pulls under way are not recorded, and the
// reported lag is longer than the real one.
const maxMarks = 16

// begin forgets what was named: clocks may be of another history from now on.
func (l *lagging) begin() {
	l.at, l.newest, l.marks = 0, 0, nil
	l.behind.Store(false)
}

// pulling records that a pull begins from a store at a clock. It returns the newest change that the
// store has or that was named.
func (l *lagging) pulling(at uint64) (newest uint64) {
	l.at = at
	for len(l.marks) > 0 && l.marks[0].clock <= at {
		l.head.Store(max(l.head.Load(), l.marks[0].when))
		l.marks = l.marks[1:]
	}
	l.behind.Store(len(l.marks) > 0)
	l.pull.Store(max(1, int64(time.Since(l.start))))
	return max(at, l.newest)
}

// pulled records its end. head: the store was at the head until now; newest is the newest change
// that was named, 0: none.
func (l *lagging) pulled(head bool, newest uint64) {
	began := l.pull.Swap(0)
	l.newest = max(l.newest, newest)
	if head {
		began = int64(time.Since(l.start))
		l.head.Store(began)
		l.marks = l.marks[:0]
		l.behind.Store(false)
	}
	if newest > l.at && len(l.marks) < maxMarks {
		l.marks = append(l.marks, landmark{newest, began})
		l.behind.Store(true)
	}
}

// lag is the time since the store was at the head. During a pull that waits for a newer change no
// time passes, up to the pull's longest wait. After that the connection counts as cut.
func (l *lagging) lag(wait time.Duration) time.Duration {
	now := time.Since(l.start)
	lag := now - time.Duration(l.head.Load())
	if began := time.Duration(l.pull.Load()); began > 0 && !l.behind.Load() {
		lag -= min(now-began, wait)
	}
	return max(0, lag)
}

// Lag is how long the store has been behind the head of the feed, by this process' own
// clock.
func (p *Proxy) Lag() time.Duration { return p.behind.lag(p.cfg.Wait) }
