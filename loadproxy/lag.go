package loadproxy

import (
	"sync/atomic"
	"time"
)

// lagging tracks how long the store has been behind the head of the feed. Searches read it while
// the pulls write it.
//
// A reply to a pull names the newest change that the distributor knows. Once the store has that
// change, it has everything that existed when the pull began. So the lag does not grow under a
// steady stream of changes, although the store never reaches the head. Changes that the distributor
// defers count as missing, even while a pull waits for them.
type lagging struct {
	start  time.Time
	head   atomic.Int64 // when the store was last known to be at the head, as time since start
	pull   atomic.Int64 // when the pull under way began, as time since start; 0 if there is none
	behind atomic.Bool  // whether the store is known to lack a change

	// Only the goroutine that pulls uses the fields below.

	at     uint64     // the store's clock when the pull under way began
	newest uint64     // the newest change named by any reply
	marks  []landmark // changes that the store lacks, by ascending clock
}

// landmark is a change with a time: a store that has the change has everything that existed at that
// time.
type landmark struct {
	clock uint64
	when  int64 // as time since start
}

// maxMarks bounds the number of landmarks. Beyond it, pulls are not recorded, and the reported lag
// is longer than the real one.
const maxMarks = 16

// begin forgets the changes that were named: from now on, clocks may be of another history.
func (l *lagging) begin() {
	l.at, l.newest, l.marks = 0, 0, nil
	l.behind.Store(false)
}

// pulling records that a pull begins when the store is at a clock. It returns the newest change
// that the store has or that a reply has named.
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

// pulled records the end of a pull. head says whether the store was at the head until now; newest
// is the newest change that the reply named, or 0 if it named none.
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

// lag returns the time since the store was at the head. While a pull waits for a newer change, the
// lag does not grow for up to `wait`, the longest time that a pull may wait. After that, the
// connection is considered cut.
func (l *lagging) lag(wait time.Duration) time.Duration {
	now := time.Since(l.start)
	lag := now - time.Duration(l.head.Load())
	if began := time.Duration(l.pull.Load()); began > 0 && !l.behind.Load() {
		lag -= min(now-began, wait)
	}
	return max(0, lag)
}

// Lag returns how long the store has been behind the head of the feed, by the clock of this
// process.
func (p *Proxy) Lag() time.Duration { return p.behind.lag(p.cfg.Wait) }
