package barrels

import (
	"sync/atomic"
	"time"
)

const (
	// turn is the time for which bulk work runs without a pause while there are searches: an
	// arriving search waits at most that long for a processor. A pause of half a turn follows.
	// Timer slack, as on shared cores, can make it one and a half turns, so that bulk work takes
	// two fifths to two thirds of a processor.
	turn = 500 * time.Microsecond
	// longestPause is the longest pause after work that could not be interrupted.
	longestPause = 5 * time.Millisecond
	// late is the delay from which a pause that ends late shows that more threads want to run than
	// there are processors, here or in other processes. Pauses then double, up to mostSlow times,
	// and halve again when they end in time.
	late     = time.Millisecond
	mostSlow = 16
	// quiet is the time without searches after which there are no pauses.
	quiet = 100 * time.Millisecond
)

// pacer makes bulk work (applying buckets, certificates, repairs) pause while there are searches.
// Only one goroutine may use it at a time.
type pacer struct {
	searches *atomic.Uint64 // number of searches begun
	seen     uint64
	last     time.Time     // when seen last changed
	began    time.Time     // when the turn began; zero if no work is under way
	ended    time.Time     // when the work before this ended
	owed     time.Duration // how long that work had run since its last pause
	slow     int           // factor of the pauses, 1 to mostSlow; 0 means 1
}

// begin begins a piece of work. Short pieces in quick succession share a turn: a pause still owed
// by the last piece remains owed, minus the time in between.
func (p *pacer) begin() {
	p.began = time.Now()
	if idle := p.began.Sub(p.ended); idle < p.owed/2 { // the time in between was shorter than the pause owed
		p.began = p.began.Add(2*idle - p.owed)
	}
}

// end ends the piece of work unless it has ended already.
func (p *pacer) end() {
	if !p.began.IsZero() {
		p.ended = time.Now()
		p.owed, p.began = p.ended.Sub(p.began), time.Time{}
	}
}

// yield pauses if the turn is over. It is called often, between pieces of work that are shorter
// than a turn.
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

// slept adapts the length of pauses to how long a pause took compared with its intended length.
func (p *pacer) slept(asked, took time.Duration) {
	if took-asked > late {
		p.slow = min(max(1, p.slow)*2, mostSlow)
	} else {
		p.slow = max(1, p.slow/2)
	}
}
