package documents

import (
	"context"
	"sync"
	"time"

	"adshard/internal/wait"
)

// doubtful is the longest time that a doubt lasts. If the balancer has not answered by then, documents stay as they are.
const doubtful = 5 * time.Second

// doubt says whether documents may have changed long ago without this process: it was stopped meanwhile. The zero value
// has no doubt.
type doubt struct {
	mu      sync.Mutex
	raised  uint64    // number of doubts; guarded by mu
	settled uint64    // number of those that are settled; guarded by mu
	since   time.Time // of the last; guarded by mu
	waits   func()    // ends the call that waits for changes; nil if none does; guarded by mu
	changed wait.Broadcast
}

// Doubt says that documents may have changed long ago. The balancer is asked at once.
func (f *Follower) Doubt() {
	d := &f.doubt
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Now() // a stop does not count as time in which the balancer has not answered
	if d.raised++; d.waits != nil {
		d.waits()
	}
}

// Certain reports whether the keeper has what the balancer had at the last Doubt, or later. It is also
// certain if there was no Doubt, or if the balancer has not answered since for doubtful.
func (f *Follower) Certain() bool {
	f.doubt.mu.Lock()
	defer f.doubt.mu.Unlock()
	return f.doubt.raised == f.doubt.settled
}

// Settle waits until the follower is certain, or ctx is done.
func (f *Follower) Settle(ctx context.Context) {
	for {
		changed := f.doubt.changed.Next()
		if f.Certain() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// begin returns how many doubts a call settles that begins now. A later doubt calls `waits`.
func (d *doubt) begin(waits func()) (settles uint64, any bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits = waits
	return d.raised, d.raised != d.settled
}

// end is called when the call is over. It reports whether a doubt was raised since the call began.
func (d *doubt) end(settles uint64) (late bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits = nil
	return d.raised != settles
}

// settle settles the first doubts, unless a call failed soon after the last one.
func (d *doubt) settle(first uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if first > d.settled && (err == nil || time.Since(d.since) > doubtful) {
		d.settled = first
		d.changed.Notify()
	}
}
