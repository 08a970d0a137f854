package choice

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"adshard/barrels/certify"
)

// Replica holds what is known about one replica of a shard, as long as there is a link to it. Make
// it with NewReplica.
type Replica struct {
	Presence
	seed uint64

	// The fields below are guarded by the lock of the Shard.
	pending  int           // number of calls under way
	heard    time.Duration // when it last replied, or when the first pending call began
	time     smoothed
	failures int           // number in a row
	beaten   int           // times beaten in a row, less one for each second since
	lost     time.Duration // when it was last beaten
	refused  bool          // the last call to end was refused
}

// NewReplica returns a replica about which nothing is known. The replicas of a shard have different
// names. A replica keeps its topics as long as it keeps its name.
func NewReplica(name string) *Replica { return &Replica{seed: xxhash.Sum64String(name)} }

// rank says how much a topic prefers the replica.
func (r *Replica) rank(topic uint64) uint64 { return certify.Mix(certify.Mix(topic) ^ r.seed) }

// unknown is the cost of a further call while the first one is under way: one call is enough to
// learn how long calls take.
const unknown = time.Hour

// mostBeaten bounds the effect of being beaten in a row: a factor of about a thousand.
const mostBeaten = 10

// each returns the time that a call takes, or 0 if it is unknown. A beaten call shows only that it
// takes longer than it was waited for, so each one in a row doubles the time. Each second since
// then halves the time again, so that the replica is tried again.
func (r *Replica) each(now time.Duration) time.Duration { return r.time.now(now) << r.beats(now) }

func (r *Replica) beats(now time.Duration) int { return max(0, r.beaten-int((now-r.lost)/memory)) }

// cost returns the time that a further call must expect: the number of calls under way, including
// this one, times the time that each takes. A replica that has not replied for a while is assumed
// to need at least that long.
func (r *Replica) cost(now time.Duration) time.Duration { return r.times(now, r.each(now)) }

// usually returns what each returns, but without the effect of single long calls.
func (r *Replica) usually(now time.Duration) time.Duration {
	return r.time.usually(now) << r.beats(now)
}

// usualCost is like cost, but uses usually. It serves topics: a single long call is no reason to
// leave a cache that holds the data needed.
func (r *Replica) usualCost(now time.Duration) time.Duration { return r.times(now, r.usually(now)) }

// worthAHedge reports whether a replica may answer soon. A replica that refused its last call may
// refuse the next one, too, and how long its searches take does not show that.
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

// end records how a call ended and how long it took; 0 means that the time tells nothing.
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
		// A replica that refuses calls at once would otherwise seem fast, and attract more of them.
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

// mostRefused bounds the call time that refusals can make a replica seem to have.
const mostRefused = time.Second
