package choice

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/certify"
)

// Replica is what is known of one replica of a shard, for as long as there is a link to
// it. Make it with NewReplica.
type Replica struct {
	Presence
	seed uint64

	// Under the lock of its Shard.
	pending  int           // calls under way
	heard    time.Duration // when it last replied, or when the first of pending began
	time     smoothed
	failures int           // in a row
	beaten   int           // in a row, less one for each second since
	lost     time.Duration // when it was last beaten
	refused  bool          // the last call that ended was refused
}

// NewReplica returns a replica of which nothing is known. Replicas of a shard differ in
// their names; one keeps its topics as long as it keeps its name.
func NewReplica(name string) *Replica { return &Replica{seed: xxhash.Sum64String(name)} }

// rank is how much the replica is preferred for a topic.
func (r *Replica) rank(topic uint64) uint64 { return certify.Mix(certify.Mix(topic) ^ r.seed) }

// unknown is the cost of one more call while the first is under way: one is enough to
// learn how long it takes.
const unknown = time.Hour

// mostBeaten bounds what being beaten in a row counts: about a thousandfold.
const mostBeaten = 10

// each is the time that a call takes; 0 means unknown. A beaten call shows only that it
// takes longer than it was waited for, so each in a row doubles the time. Each second since
// halves it, so that the replica is tried again.
func (r *Replica) each(now time.Duration) time.Duration { return r.time.now(now) << r.beats(now) }

func (r *Replica) beats(now time.Duration) int { return max(0, r.beaten-int((now-r.lost)/memory)) }

// cost is the time that a further call has to expect: calls under way × the time that
// each takes. One that has not replied for a while takes at least that long.
func (r *Replica) cost(now time.Duration) time.Duration { return r.times(now, r.each(now)) }

// usually has each time without single long calls.
func (r *Replica) usually(now time.Duration) time.Duration {
	return r.time.usually(now) << r.beats(now)
}

// usualCost is cost for topics: single calls that take long are no reason to leave a
// cache that holds what is needed.
func (r *Replica) usualCost(now time.Duration) time.Duration { return r.times(now, r.usually(now)) }

// worthAHedge reports whether a replica may answer soon. One that refused its last call may
// refuse the next one, too, and that says nothing of how long its searches take.
func (r *Replica) worthAHedge(c Call) bool {
	return r.standing() == in && !r.refused && r.usually(c.Now) <= hopeless*c.Waited
}

func (r *Replica) times(now, each time.Duration) time.Duration {
	if r.pending > 0 {
		if each == 0 {
			return unknown
		}
		each = max(each, now-r.heard)
	}
	return time.Duration(r.pending+1) * each
}

func (r *Replica) begin(now, patience time.Duration) {
	if r.pending == 0 {
		r.heard = now
	}
	r.pending++
	r.Asked(now, patience)
}

// end notes how a call ended, and how long it took; 0 means that its time says
// nothing.
func (r *Replica) end(now, took time.Duration, o Outcome) {
	r.pending--
	if o.replied() {
		r.heard = now
	}
	r.refused = o == Refused
	switch o {
	case Full, Short, Lagging:
		if took > 0 {
			r.time.observe(now, took)
		}
		r.beaten = 0
	case GaveUp:
		r.time.raise(now, took)
	case Beaten:
		r.time.raise(now, took)
		r.beaten, r.lost = min(r.beats(now)+1, mostBeaten), now
	case Refused:
		// It would attract the calls that it refuses at once.
		r.time.raise(now, min(2*max(r.time.now(now), leastTime), mostRefused))
	}
	r.Replied(now, o)
	switch {
	case o.serves():
		r.failures = 0
		if took > 0 {
			r.Served(now - took)
		}
	case ejects[o] > 0:
		r.Faltered()
		if r.failures++; r.failures >= ejects[o] {
			r.Eject(now)
		}
	}
}

// mostRefused bounds the time that refusals make a replica seem to take.
const mostRefused = time.Second
