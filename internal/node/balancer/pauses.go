package balancer

import (
	"context"
	"time"
)

const (
	// late: if a pause ends this much too late, the machine's processors are overloaded, mostly
	// by queries, which have priority over moves of slices.
	late = time.Millisecond
	// longestPause bounds a pause; mostSlow is how many times as long as the work before it a
	// pause may be.
	longestPause = 250 * time.Millisecond
	mostSlow     = 16
	// recovery is the part by which pauses become shorter when one ends in time. They
	// double when one ends late: more than one late one in six and they grow.
	recovery = 8
)

// pauses paces what a strategy moves. Each slice that moves costs processor time in the database, its
// distributor, both slaves and all that keep a table of slices. The rate of certificates bounds all
// of it: a slice that is not certified is not switched, and what is under way is bounded
// (balance.Budget). While pauses end in time, each is as long as the work before it. While they end
// late, pauses are up to mostSlow times as long: finishing sooner gains a strategy nothing while
// queries wait for a processor. It is for one goroutine.
type pauses struct {
	slow float64   // how many times the work before a pause is; 0 is 1
	end  time.Time // of the pause, or zero if there is none
}

// begin begins the pause after work that took that time.
func (p *pauses) begin(took time.Duration) { p.end = time.Now().Add(p.length(took)) }

// pausing reports whether there is a pause. One that ended during other work says nothing
// of processors.
func (p *pauses) pausing() bool {
	if !p.end.IsZero() && !time.Now().Before(p.end) {
		p.end = time.Time{}
	}
	return !p.end.IsZero()
}

// wait waits until the pause ends, if there is one, or more is closed. Errors are those of ctx.
func (p *pauses) wait(ctx context.Context, more <-chan struct{}) error {
	var ends <-chan time.Time
	if !p.end.IsZero() {
		timer := time.NewTimer(time.Until(p.end))
		defer timer.Stop()
		ends = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-more:
	case <-ends:
		p.ended(time.Since(p.end))
		p.end = time.Time{}
	}
	return nil
}

// length returns how long to pause after work that took a time.
func (p *pauses) length(took time.Duration) time.Duration {
	return min(time.Duration(float64(took)*max(1, p.slow)), longestPause)
}

// ended adapts the pauses to how late one of them ended.
func (p *pauses) ended(tooLate time.Duration) {
	if tooLate > late {
		p.slow = min(max(1, p.slow)*2, mostSlow)
	} else {
		p.slow = max(1, p.slow-p.slow/recovery)
	}
}
