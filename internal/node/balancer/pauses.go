package balancer

import (
	"context"
	"time"
)

const (
	// late is the least delay of a pause's end that means that the processors are overloaded, mostly
	// by queries, which have priority over moves of slices.
	late = time.Millisecond
	// longestPause bounds a pause; a pause is at most mostSlow times as long as the work before it.
	longestPause = 250 * time.Millisecond
	mostSlow     = 16
	// recovery is the divisor of the part by which pauses become shorter when one ends in time. They
	// double when one ends late: if more than one in six ends late, they grow.
	recovery = 8
)

// pauses paces the moves of a strategy. Each move costs processor time in the database, in the
// distributor, on both slaves and in every process that keeps a table of slices. The rate of
// certificates bounds all of these costs: a slice without a certificate is not switched, and the
// number of moves under way is bounded (balance.Budget). While pauses end in time, each is as long as
// the work before it. While they end late, pauses grow to at most mostSlow times that length: a
// strategy gains nothing by finishing sooner while queries wait for a processor. For use by one
// goroutine.
type pauses struct {
	slow float64   // ratio of a pause to the work before it; 0 means 1
	end  time.Time // the end of the pause, or zero if there is none
}

// begin begins the pause that follows work of this duration.
func (p *pauses) begin(took time.Duration) { p.end = time.Now().Add(p.length(took)) }

// pausing reports whether there is a pause. It clears a pause that ended during other work, which
// tells nothing about the processors.
func (p *pauses) pausing() bool {
	if !p.end.IsZero() && !time.Now().Before(p.end) {
		p.end = time.Time{}
	}
	return !p.end.IsZero()
}

// wait waits until the pause ends, if there is one, or until `more` is closed. Errors: those of ctx.
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

// length returns the length of the pause after work of this duration.
func (p *pauses) length(took time.Duration) time.Duration {
	return min(time.Duration(float64(took)*max(1, p.slow)), longestPause)
}

// ended adapts the length of pauses to the delay with which one of them ended.
func (p *pauses) ended(tooLate time.Duration) {
	if tooLate > late {
		p.slow = min(max(1, p.slow)*2, mostSlow)
	} else {
		p.slow = max(1, p.slow-p.slow/recovery)
	}
}
