package overload

import (
	"container/list"
	"time"
)

const (
	// window is the time between two changes of the number of slots.
	window = 100 * time.Millisecond
	// long is the delay of goroutines beyond which too many searches run at once.
	long = 20 * time.Millisecond
	// patience is the divisor that gives the part of its time that a search may wait for a slot.
	patience = 4
	// tolerated is the divisor that gives the part of the searches that slaves may refuse without a change of
	// slots.
	tolerated = 50
	// memory is the number of searches over which the mean time is taken, unless more of them fit into a
	// window. One thread that the operating system stopped for 30 ms says little about searches of 20 µs; a
	// mean over only 256 of these would have hundreds of searches refused.
	memory = 256
)

// Config says how many searches may run and wait. Its values are not checked.
type Config struct {
	// Most bounds the searches under way, whether they run or wait. It is at least 1.
	Most int
	// Unqueued says that a search that finds no free slot is refused instead of waiting for one.
	Unqueued bool
	// Start is the initial number of slots, and Least the number that remains whatever the delays are. Both
	// are from 1 to Most. Refusals may reduce the slots to one.
	Least, Start int
	// Prompt is the delay above which there is no processor time for more slots. It is at most 20 ms.
	Prompt time.Duration
	// Delay returns how long goroutines have waited for a processor since its last call. If it is nil, they
	// are assumed not to wait.
	Delay func() time.Duration
}

// Request describes a search at the gate.
type Request struct {
	// Source is where the search comes from, and Tenant the one for whom it is made. Each source and each
	// tenant is given its share of the places.
	Source, Tenant string
	// Low says that the search is refused before others.
	Low bool
	// Left is the time left until its deadline.
	Left time.Duration
}

// ticket is an admitted search.
type ticket struct {
	source  *client
	tenant  *client
	waiting *list.Element // its element of the queue, or nil if it runs
	began   time.Duration // when it began to run
	left    time.Duration // time left when it entered
	refused bool          // the slaves that it asked refused it
	start   func()        // called when it may run, if it had to wait
}

// limiter is the state of a gate. It has no clock: callers pass in the time since some start. It is not safe
// for concurrent use.
type limiter struct {
	cfg     Config
	slots   int
	running int
	queue   list.List     // of *ticket, oldest first
	service time.Duration // mean duration of searches that ran
	learnt  int           // number of searches in that mean, bounded as memory says
	left    time.Duration // mean time left when searches began to run
	sources clients
	tenants clients

	since   time.Duration // when the present window began
	full    bool          // a search had to wait or was refused in this window
	ended   int           // number of searches that ended in this window
	refused int           // how many of those were refused
}

func newLimiter(c Config) *limiter {
	return &limiter{cfg: c, slots: c.Start, sources: newClients(), tenants: newClients()}
}

// admit returns the clients on whose behalf a search is made, and whether it is admitted. If it is, enqueue
// takes its place.
func (l *limiter) admit(now time.Duration, r Request) (source, tenant *client, ok bool) {
	l.adapt(now)
	source, tenant = l.sources.get(r.Source, now), l.tenants.get(r.Tenant, now)
	if ok = l.running+l.queue.Len() < l.bound(r, source, tenant); !ok {
		l.full = true
	}
	return source, tenant, ok
}

// enqueue counts the search of a ticket, and reports whether it must wait until start is called.
func (l *limiter) enqueue(now time.Duration, t *ticket) (waits bool) {
	t.source.places++
	t.tenant.places++
	if l.running < l.slots && l.queue.Len() == 0 {
		l.run(now, t)
		return false
	}
	l.full = true
	t.waiting = l.queue.PushBack(t)
	return true
}

// bound returns how many searches may be under way, including this one, if it is to enter. A quarter of the
// places is kept for sources and tenants that have less than their share, and half for searches that do not
// have low priority.
func (l *limiter) bound(r Request, source, tenant *client) int {
	n := l.capacity(r.Left)
	switch {
	case r.Low:
		n /= 2
	case l.sources.greedy(source, n) || l.tenants.greedy(tenant, n):
		n -= n / 4
	}
	return max(n, 1)
}

// capacity returns how many searches can be under way such that another one with this much time left gets a
// slot soon enough.
func (l *limiter) capacity(left time.Duration) int {
	switch {
	case l.cfg.Unqueued:
		return l.slots
	case l.service <= 0:
		return l.cfg.Most
	}
	turns := float64(left/patience) / float64(l.service)
	return int(min(float64(l.cfg.Most), float64(l.slots)*(1+turns)))
}

func (l *limiter) run(now time.Duration, t *ticket) {
	t.began = now
	l.running++
}

// leave ends a search, and starts waiting searches for which there is a slot now.
func (l *limiter) leave(now time.Duration, t *ticket) {
	t.source.places--
	t.tenant.places--
	if t.waiting != nil { // the search has given up waiting
		l.queue.Remove(t.waiting)
		t.waiting = nil
		return
	}
	l.running--
	l.learn(now-t.began, t.left)
	l.ended++
	if t.refused {
		l.refused++
	}
	l.adapt(now)
	for l.running < l.slots && l.queue.Len() > 0 {
		next := l.queue.Remove(l.queue.Front()).(*ticket)
		next.waiting = nil
		l.run(now, next)
		next.start()
	}
}

// learn adds a search to the means.
func (l *limiter) learn(took, left time.Duration) {
	l.learnt = min(l.learnt+1, max(memory, int(window/max(l.service, 1))))
	l.service += (took - l.service) / time.Duration(l.learnt)
	l.left += (left - l.left) / time.Duration(l.learnt)
}

// adapt changes the number of slots once a window.
func (l *limiter) adapt(now time.Duration) {
	if now-l.since < window {
		return
	}
	var delay time.Duration
	if l.cfg.Delay != nil {
		delay = l.cfg.Delay()
	}
	switch {
	case l.refused*2 > l.ended:
		l.slots = max(1, l.slots/2)
	case l.refused*tolerated > l.ended:
		l.slots = max(1, l.slots*4/5)
	case delay > long:
		l.slots = max(l.slots*4/5, min(l.slots, l.cfg.Least))
	case l.full && delay <= l.cfg.Prompt && l.service < l.left/patience:
		l.slots = min(l.slots+max(1, l.slots/16), l.cfg.Most)
	}
	l.since, l.full, l.ended, l.refused = now, false, 0, 0
	l.sources.forget(now)
	l.tenants.forget(now)
}
