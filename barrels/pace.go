package barrels

import (
	"sync/atomic"
	"time"
)

const (
	// turn is how long bulk work runs at a time while there are searches: a search that arrives
	// waits no longer than this for a processor. A pause of half a turn follows. Timer slack, as on
	// shared cores, can make it one and a half turns, so that bulk work takes two fifths to two
	// thirds of a processor.
	turn = 500 * time.Microsecond
	// longestPause is the longest pause after work that could not be interrupted.
	longestPause = 5 * time.Millisecond
	// late: a pause that ends this much too late shows that more threads want to run than there are
	// processors, here or in other processes. Pauses then double, up to mostSlow times, and halve
	// again when they end in time.
	late     = time.Millisecond
	mostSlow = 16
	// quiet: after this long without a search there are no pauses.
	quiet = 100 * time.Millisecond
)

// pacer makes bulk work (applying buckets, certificates, repairs) pause while there are searches.
// It is for one goroutine at a time.
type pacer struct {
	searches *atomic.Uint64 // counts searches
	seen     uint64
	last     time.Time     // when seen was seen to change
	began    time.Time     // when the turn began; zero: no work is under way
	ended    time.Time     // when the work before ended
	owed     time.Duration // how long that work ran since its last pause
	slow     int           // factor of the pauses: 1 to mostSlow; 0 is 1
}

// begin begins a piece of work. Short pieces in quick succession share a turn: a pause that the
// last one still owed is owed, minus the time in between.
func (p *pacer) begin() {
	p.began = time.Now()
	if idle := p.began.Sub(p.ended); idle < p.owed/2 { // the time between was as long as a pause
		p.began = p.began.Add(2*idle - p.owed)
	}
}

// end ends it, if it has not ended.
func (p *pacer) end() {
	if !p.began.IsZero() {
		p.ended = time.Now()
		p.owed, p.began = p.ended.Sub(p.began), time.Time{}
	}
}

// yield pauses at the end of a turn. It is called often, between pieces of work that
// are shorter than a turn.
func (p *pacer) yield() {
	now := time.Now()
	worked := now.Sub(p.began)
	if worked < turn {
		return
	}
	if n := p.searches.Load(); n != p.seen {
		p.seen, p.last = n, now
	}
	if now.Sub(p.last) < quiet {
		asked := min(worked/2*time.Duration(max(1, p.slow)), longestPause)
		time.Sleep(asked)
		p.slept(asked, time.Since(now))
		now = time.Now()
	}
	p.began = now
}

// slept adapts the pauses to how long one took, compared with how long was asked.
func (p *pacer) slept(asked, took time.Duration) {
	if took-asked > late {
		p.slow = min(max(1, p.slow)*2, mostSlow)
	} else {
		p.slow = max(1, p.slow/2)
	}
}
