package choice

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// At most the share hedgeShare of a shard's calls, plus a burst, are hedges. The bound for
	// calls in place of others is of the same kind, plus some per second; it does not count calls
	// that an ejection allows.
	hedgeShare, hedgeBurst            = 0.05, 10
	againShare, againBurst, againRate = 0.1, 20, 10
	// A call is hedged when it takes longer than hedgeAt of a thousand calls do, but not before
	// leastHedge. Until enough times are known, it is hedged after firstHedge.
	hedgeAt    = 950
	leastHedge = time.Millisecond
	firstHedge = 50 * time.Millisecond
	// A replica is not worth a hedge if it usually takes more than hopeless times as long as the
	// query has waited. If there are many calls per second, a single long one hardly changes the
	// usual time: otherwise, when searches stall now and then at every replica, none would be worth
	// a hedge. Below about two calls per second, a long call matters until it is forgotten.
	hopeless = 8
	// looks is the number of calls after which the usual time is looked up again.
	looks = 64
	// blind is the number of calls that may wait for a silent replica when all others are silent,
	// too.
	blind = 8
	// affinity is the factor by which the replica that a topic prefers may have more to do than the
	// least loaded one.
	affinity = 4
)

// Most is the largest number of replicas that a shard may have.
const Most = 64

// Shard holds what the replicas of a shard share in all maps. Make it with NewShard.
type Shard struct {
	mu     sync.Mutex
	hedges budget // under mu
	again  budget // under mu
	times  usual  // under mu
	calls  uint   // under mu
	hedge  atomic.Int64
}

// NewShard returns a shard about which nothing is known.
func NewShard() *Shard {
	s := &Shard{hedges: newBudget(hedgeShare, hedgeBurst, 0), again: newBudget(againShare, againBurst, againRate)}
	s.hedge.Store(int64(firstHedge))
	return s
}

// Set holds the replicas that a map gives to a shard. It is safe for concurrent use. Replicas are
// numbered by their positions in the set.
type Set struct {
	shard    *Shard
	replicas []*Replica
}

// NewSet returns the set of these replicas of a shard; there must be 1 to Most.
func NewSet(s *Shard, replicas []*Replica) *Set { return &Set{s, replicas} }

// Len returns the number of replicas.
func (s *Set) Len() int { return len(s.replicas) }

// Replica returns replica i.
func (s *Set) Replica(i int) *Replica { return s.replicas[i] }

// Asked is a set of replicas: those that a query has asked, or that are ruled out for it.
type Asked uint64

// With returns the set a with replica i added.
func (a Asked) With(i int) Asked { return a | 1<<i }

// Has reports whether replica i is in the set.
func (a Asked) Has(i int) bool { return a>>i&1 != 0 }

// None stands for no replica.
const None = -1

// Call describes a query that is about to ask a replica.
type Call struct {
	Now      time.Duration
	Patience time.Duration // for Presence.Asked
	Topic    uint64        // of the query, or 0 if it has none
	Waited   time.Duration // of a hedge: how long the first call has taken
	Random   uint64
}

// First returns the replica to be asked first, and counts its call as begun. It returns None if all
// are silent and enough calls wait for them. The replica that the topic prefers is asked unless it
// has much more to do than the least loaded one; otherwise the better of two random ones is asked.
func (s *Set) First(c Call) int {
	if len(s.replicas) == 1 {
		if s.replicas[0].Silent() {
			return None
		}
		s.replicas[0].Asked(c.Now, c.Patience)
		return 0
	}
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	s.shard.hedges.earn(c.Now)
	s.shard.again.earn(c.Now)
	return s.begin(s.choose(0, &c), &c)
}

// Hedge returns a second replica to be asked while the first ones have not answered, and counts its
// call as begun. It returns None if no other replica is in and may answer soon, or if the budget is
// used up; `spent` reports the latter.
func (s *Set) Hedge(asked Asked, c Call) (i int, spent bool) {
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	c.Topic = 0
	if i = s.choose(asked, &c); i == None || !s.replicas[i].worthAHedge(c) {
		return None, false
	}
	if !s.shard.hedges.spend() {
		return None, true
	}
	return s.begin(i, &c), false
}

// Again returns the replica to be asked in place of one that has not served, and counts its call as
// begun. It returns None if there is no other replica, or if the budget is used up; `spent` reports
// the latter. `free` is what Ended returned.
func (s *Set) Again(asked Asked, free bool, c Call) (i int, spent bool) {
	if len(s.replicas) == 1 {
		return None, false
	}
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	c.Topic = 0
	if i = s.choose(asked, &c); i == None {
		return None, false
	}
	if !(free && s.better(i, asked)) && !s.shard.again.spend() {
		return None, true
	}
	return s.begin(i, &c), false
}

// better reports whether replica i is in, or whether it answers while none of those asked has a
// connection.
func (s *Set) better(i int, asked Asked) bool {
	switch s.replicas[i].standing() {
	case in:
		return true
	case ejected:
		for k, r := range s.replicas {
			if asked.Has(k) && r.standing() < broken {
				return false
			}
		}
		return true
	}
	return false
}

// OnceMore reports whether all replicas may be asked a second time, and takes that from the budget
// for calls in place of others.
func (s *Set) OnceMore() bool {
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	return s.shard.again.spend()
}

// Ended records how the call to replica i ended and how long it took (0 means that the time tells
// nothing). It reports whether the replica is ejected.
func (s *Set) Ended(i int, now, took time.Duration, o Outcome) (ejected bool) {
	r := s.replicas[i]
	if len(s.replicas) == 1 {
		r.Replied(now, o)
		return false
	}
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	r.end(now, took, o)
	if took > 0 && (o == Full || o == GaveUp || o == Beaten) {
		s.shard.took(took)
	}
	return !r.In()
}

// HedgeAfter returns how long a call is waited for before another replica is asked as well.
func (s *Set) HedgeAfter() time.Duration { return time.Duration(s.shard.hedge.Load()) }

// took adds the time of a call. For a call that was given up, it adds the time until then, since
// the call would have taken longer.
func (s *Shard) took(d time.Duration) {
	s.times.observe(d)
	if s.calls++; s.calls%looks != 0 {
		return
	}
	if usual := s.times.within(hedgeAt); usual > 0 {
		s.hedge.Store(int64(max(usual, leastHedge)))
	}
}

// begin begins a call to replica i, unless it is None.
func (s *Set) begin(i int, c *Call) int {
	if i != None {
		s.replicas[i].begin(c.Now, c.Patience)
	}
	return i
}

// choose returns the best replica among those that were not asked.
func (s *Set) choose(asked Asked, c *Call) int {
	var list [Most]uint8
	open := s.candidates(asked, list[:0])
	switch len(open) {
	case 0:
		return s.lastHope(asked)
	case 1:
		return int(open[0])
	}
	if c.Topic != 0 {
		if own, ok := s.own(open, c); ok {
			return own
		}
	}
	a := int(c.Random % uint64(len(open)))
	b := (a + 1 + int(c.Random>>32%uint64(len(open)-1))) % len(open)
	first, second := int(open[a]), int(open[b])
	if s.replicas[second].cost(c.Now) < s.replicas[first].cost(c.Now) {
		return second
	}
	return first
}

// candidates appends the replicas that may be asked: those that are in; if there are none, the
// ejected ones that answer; if there are none either, those without a connection, which may have
// recovered. These fail at once: if they were asked as often as a replica that answers, they would
// use up the budget for retries.
func (s *Set) candidates(asked Asked, list []uint8) []uint8 {
	best := silent
	for i, r := range s.replicas {
		now := r.standing()
		if asked.Has(i) || now == silent || now > best {
			continue
		}
		if now < best {
			best, list = now, list[:0]
		}
		list = append(list, uint8(i))
	}
	return list
}

// lastHope returns the replica to be asked when all are silent: the one that answered last. A
// machine or a network that stalled for a moment makes replicas seem silent that are not. Few calls
// may wait for it, so that a shard that really hangs delays few queries.
func (s *Set) lastHope(asked Asked) int {
	best := None
	for i, r := range s.replicas {
		if !r.Silent() {
			return None // the replica was asked already
		}
		if !asked.Has(i) && r.pending < blind && (best == None || s.replicas[best].answered.Load() < r.answered.Load()) {
			best = i
		}
	}
	return best
}

// own returns the replica that the topic prefers: the one with the highest hash of both (rendezvous
// hashing). When a replica leaves, its topics are spread over all others, and no other topic
// changes its replica. ok is false if the replica has too much to do.
func (s *Set) own(open []uint8, c *Call) (i int, ok bool) {
	least := time.Duration(1<<63 - 1)
	var most uint64
	for _, o := range open {
		r := s.replicas[o]
		least = min(least, r.usualCost(c.Now))
		if h := r.rank(c.Topic); h >= most {
			i, most = int(o), h
		}
	}
	return i, s.replicas[i].usualCost(c.Now) <= affinity*max(least, leastTime)
}
