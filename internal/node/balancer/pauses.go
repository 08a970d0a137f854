package balancer

import (
	"context"
	"time"

	"adshard/internal/wait"
)

const (
	// late: when a pause ends this much too late, more wants to run on this machine than it
	// has processors; most of that is queries, and what moves slices comes after them.
	late = time.Millisecond
	// longestPause is the longest pause after one certificate, mostSlow by how many times
	// the work before it is longer than usual at most.
	longestPause = 250 * time.Millisecond
	mostSlow     = 16
	// recovery is the part by which pauses become shorter when one ends in time. They
	// double when one ends late: more than one late one in six and they grow.
	recovery = 8
)

// pauses paces what a strategy moves. Each slice that moves costs the database, its
// distributor, both slaves and the table of slices of everybody some processor time; the
// rate of certificates bounds all of it, since a slice that is not certified is not
// switched, and what is under way is bounded (balance.Budget). On a machine that has time to
// spare a pause is as long as the work before it. On one that has none, it is up to mostSlow
// times as long: a strategy gains nothing by being done sooner while queries wait for a
// processor. It is for one goroutine.
type pauses struct {
	slow float64 // how many times the work before a pause is; 0 is 1
}

// after pauses after work that took a time, until ctx is done.
func (p *pauses) after(ctx context.Context, took time.Duration) error {
	asked, began := p.length(took), time.Now()
	if err := wait.Sleep(ctx, asked); err != nil {
		return err
	}
	p.ended(time.Since(began) - asked)
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
