package fanout

import (
	"sync/atomic"
	"time"

	"adshard/fault"
)

const (
	// A call shows that its shard may be silent when it has waited for a quarter
	// of its time, and for leastPatience.
	patiencePart  = 4
	leastPatience = 50 * time.Millisecond
	// A suspected shard has suspectTicks ticks to answer its first probe. Ticks
	// count, not time, so that a master that was itself suspended blames no shard.
	suspectTicks = 4
	// probePause is the least time between the ends of two probes.
	probePause = 100 * time.Millisecond
)

// Presence decides whether a shard is asked. A shard that has answered no call
// while one waited too long is suspected, and probed; one that does not
// answer the probe either is left out until it answers one. So a process that
// hangs holds up few queries, and one that is merely slow stays in.
//
// It takes events and uses neither clock nor network; times are since any fixed
// moment. Asked, Replied and Out may be called by many goroutines at
// once, the others by one. A nil Presence never leaves its shard out.
type Presence struct {
	due      atomic.Int64 // when a call will have waited too long; 0: none waits
	answered atomic.Int64 // when the shard last answered
	out      atomic.Bool

	suspected bool          // or left out
	since     time.Duration // it is suspected
	ticks     int           // since then
	probing   bool
	probed    time.Duration // when the last probe ended
}

// patience is how long a call with so much time left may wait before its shard is
// suspected.
func patience(left time.Duration) time.Duration { return max(left/patiencePart, leastPatience) }

// Asked notes a call that may wait for patience.
func (p *Presence) Asked(now, patience time.Duration) {
	if p == nil {
		return
	}
	due := int64(now + patience)
	for {
		old := p.due.Load()
		if old != 0 && old <= due || p.due.CompareAndSwap(old, due) {
			return
		}
	}
}

// Replied notes how a call ended. Any reply, errors of the shard too, shows that
// the shard is there; a call that timed out or was cancelled shows nothing, and one
// that found no connection only that no call waits.
func (p *Presence) Replied(now time.Duration, err error) {
	if p == nil {
		return
	}
	if err != nil {
		switch fault.KindOf(err) {
		case fault.Deadline, fault.Cancelled:
			return
		case fault.Unavailable:
			p.due.Store(0)
			return
		}
	}
	p.answered.Store(int64(now))
	p.due.Store(0)
}

// Out reports whether the shard is left out.
func (p *Presence) Out() bool { return p != nil && p.out.Load() }

// Tick is called every tickEvery. It reports whether to send a probe now;
// Probed must follow.
func (p *Presence) Tick(now time.Duration) (probe bool) {
	switch {
	case !p.suspected:
		due := time.Duration(p.due.Load())
		if due == 0 || now < due {
			return false
		}
		p.suspected, p.since, p.ticks = true, now, 0
	case time.Duration(p.answered.Load()) >= p.since:
		p.suspected = false
		p.out.Store(false)
		return false
	default:
		if p.ticks++; p.ticks >= suspectTicks {
			p.out.Store(true)
		}
		if p.probing || now < p.probed+probePause {
			return false
		}
	}
	probe = !p.probing
	p.probing = true
	return probe
}

// Probed notes how a probe ended.
func (p *Presence) Probed(now time.Duration, err error) {
	p.probing, p.probed = false, now
	p.Replied(now, err)
}
