package choice

import (
	"sync/atomic"
	"time"
)

const (
	// A replica is suspected when a call has waited for it for one part in patiencePart of the
	// call's time, and for at least LeastPatience.
	patiencePart = 4

	// LeastPatience is the least time that a call waits before its replica is suspected.
	LeastPatience = 50 * time.Millisecond

	// A suspected replica must answer its first probe within suspectTicks ticks. Ticks are counted
	// instead of time, so that a master that was itself suspended does not blame its replicas.
	suspectTicks = 4
	// probePause is the least time between the ends of two probes, and the time before the first
	// probe of an ejected replica. Each further ejection doubles the latter, up to longestPause,
	// unless the replica was not ejected for longer than longestPause.
	probePause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// Presence decides whether a replica is asked. If one of its calls has waited too long and none was
// answered meanwhile, the replica is suspected and probed. If it does not answer the probe either,
// it is silent, and is not asked until it answers one. Thus a process that hangs delays few queries,
// and one that is merely slow stays in. A replica whose calls fail, or to which there is no
// connection for a while, is ejected: it is asked only if there is no other, until a probe succeeds
// or enough of these calls do. While there is no connection, all others are asked first.
//
// Presence handles events and uses no clock and no network; times are counted from any fixed moment.
// Asked, Replied, Eject, Served, Faltered, Silent and In are safe for concurrent use; the other
// methods are for one goroutine. A nil Presence is always in.
type Presence struct {
	// Up reports whether there is a connection to the replica. If it is nil, there always is. Set it
	// before the replica is shared.
	Up func() bool

	due      atomic.Int64 // when a call will have waited too long; 0 if none waits
	answered atomic.Int64 // when the replica last answered
	silent   atomic.Bool
	ejected  atomic.Bool
	failed   atomic.Int64 // when it was last ejected, or when a later probe found no connection
	served   atomic.Int64 // number of calls begun since `failed` that it has served, in a row

	away      int           // number of ticks without a connection, in a row
	suspected bool          // suspected or silent
	since     time.Duration // when it became suspected
	ticks     int           // number of ticks since then
	probing   bool
	began     time.Duration // when the present probe began
	probed    time.Duration // when the last probe ended

	seen  bool          // the ejection has been noticed
	pause time.Duration // pause before a probe after an ejection
	next  time.Duration // when the next probe is due
	back  time.Duration // when it was last taken back
}

// Patience is how long a call with this much time left may wait before its replica is suspected.
func Patience(left time.Duration) time.Duration { return max(left/patiencePart, LeastPatience) }

// Asked records a call that may wait for `patience`.
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

// Replied records how a call ended. Any reply, even an error of the replica, shows that the replica
// is alive. A call that was no longer awaited shows nothing. One that found no connection shows only
// that no call waits.
func (p *Presence) Replied(now time.Duration, o Outcome) {
	if p == nil || o.unheard() {
		return
	}
	if o.replied() {
		p.answered.Store(int64(now))
	}
	p.due.Store(0)
}

// Eject records that calls fail.
func (p *Presence) Eject(now time.Duration) {
	p.failed.Store(int64(now))
	p.served.Store(0)
	p.ejected.Store(true)
}

// Served records that a call begun at the time `began` was answered in full.
func (p *Presence) Served(began time.Duration) {
	if p.ejected.Load() && began >= time.Duration(p.failed.Load()) {
		p.served.Add(1)
	}
}

// Faltered records a call that failed without ejecting the replica.
func (p *Presence) Faltered() { p.served.Store(0) }

// Silent reports whether the replica has stopped answering, in which case it is not asked.
func (p *Presence) Silent() bool { return p != nil && p.silent.Load() }

// In reports whether the replica is neither silent nor ejected.
func (p *Presence) In() bool { return p == nil || !p.silent.Load() && !p.ejected.Load() }

// standing says how likely a replica is to answer, best first.
type standing uint8

const (
	in      standing = iota
	ejected          // it has replied since it was ejected
	broken           // it has not replied since it was ejected, or there is no connection
	silent
)

func (p *Presence) standing() standing {
	switch {
	case p.silent.Load():
		return silent
	case p.Up != nil && !p.Up():
		return broken
	case !p.ejected.Load():
		return in
	case p.answered.Load() >= p.failed.Load():
		return ejected
	}
	return broken
}

// Tick must be called at fixed intervals. It reports whether to send a probe now; Probed must follow
// the probe.
func (p *Presence) Tick(now time.Duration) (probe bool) {
	p.connected(now)
	listen, look := p.listen(now), p.look(now)
	if p.probing || !listen && !look {
		return false
	}
	p.probing, p.began = true, now
	return true
}

// connected ejects the replica if there has been no connection for a while. A call that waits for a
// connection does not show that the replica is silent.
func (p *Presence) connected(now time.Duration) {
	if p.Up == nil || p.Up() {
		p.away = 0
		return
	}
	p.due.Store(0)
	if p.away++; p.away == suspectTicks && p.In() {
		p.Eject(now)
	}
}

// listen decides whether the replica is silent, and reports whether that needs a probe now.
func (p *Presence) listen(now time.Duration) (probe bool) {
	if !p.suspected {
		due := time.Duration(p.due.Load())
		if due == 0 || now < due {
			return false
		}
		p.suspected, p.since, p.ticks = true, now, 0
		return true
	}
	if time.Duration(p.answered.Load()) >= p.since {
		p.suspected = false
		p.silent.Store(false)
		return false
	}
	if p.ticks++; p.ticks >= suspectTicks {
		p.silent.Store(true)
	}
	return now >= p.probed+probePause
}

// look reports whether a probe is due because the replica is ejected.
func (p *Presence) look(now time.Duration) (probe bool) {
	if !p.ejected.Load() {
		return false
	}
	if !p.seen {
		p.seen = true
		if p.pause == 0 || now-p.back > longestPause {
			p.pause = probePause
		} else {
			p.pause = min(2*p.pause, longestPause)
		}
		p.next = now + p.pause
	}
	// A replica that has come back and failed again several times must serve more calls.
	if p.served.Load() >= int64(p.pause/probePause) {
		p.takeBack(now)
		return false
	}
	return now >= p.next
}

func (p *Presence) takeBack(now time.Duration) {
	p.seen, p.back = false, now
	p.ejected.Store(false)
}

// Probed records how a probe ended.
func (p *Presence) Probed(now time.Duration, o Outcome) {
	p.probing, p.probed = false, now
	p.Replied(now, o)
	if !p.seen {
		return
	}
	if o == Broken {
		p.failed.Store(int64(now))
		p.served.Store(0)
	}
	if o.serves() && time.Duration(p.failed.Load()) <= p.began {
		p.takeBack(now)
		return
	}
	p.next = now + p.pause
}
