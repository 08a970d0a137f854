package overload

import (
	"container/list"
	"time"
)

const (
	// window is the time between two changes of the number of slots.
	window = 100 * time.Millisecond
	// long is a delay of goroutines beyond which too much runs at once.
	long = 20 * time.Millisecond
	// patience: a search may wait this part of its time for a slot.
	patience = 4
	// tolerated: this part of the searches may be refused below without a change.
	tolerated = 50
	// memory is the number of searches over which the mean time is taken, or as many as fit into a window if
	// those are more. One thread that the operating system stopped for 30 ms says little about searches of 20
	// µs; with a mean over 256 it would have hundreds refused.
	memory = 256
)

// Config says how many searches run and wait. Errors in it are the caller's.
type Config struct {
	// Most is the most searches under way, running or waiting, at least 1.
	Most int
	// Unqueued: a search that finds no slot is refused; it never waits for one.
	Unqueued bool
	// Start is the number of slots to begin with, Least the number that delays leave:
	// both 1 to Most. Refusals may leave one.
	Least, Start int
	// Prompt is the delay from which on there is no processor time for more slots; at
	// most 20 ms.
	Prompt time.Duration
	// Delay returns how long goroutines have waited for a processor since its last call, or
	// nil if they are taken not to wait.
	Delay func() time.Duration
}

// Request describes a search at the gate.
type Request struct {
	// Source is where the search comes from, and Tenant who it is for. Each is to have
	// its share of the places.
	Source, Tenant string
	// Low: it is refused before others.
	Low bool
	// Left is the time until its deadline.
	Left time.Duration
}

// ticket is a search that was admitted.
type ticket struct {
	source  *client
	tenant  *client
	waiting *list.Element // in the queue; nil: it runs
	began   time.Duration // when it began to run
	left    time.Duration // of its time, when it entered
	refused bool          // by those whom it asked
	start   func()        // called when it may run, if it has to wait
}

// limiter is the state of a gate. It is pure: the clock, the time since some start,
// comes in, and it is not for concurrent use.
type limiter struct {
	cfg     Config
	slots   int
	running int
	queue   list.List     // of *ticket, the oldest first
	service time.Duration // mean of searches that ran
	learnt  int           // searches in service, up to what is remembered
	left    time.Duration // mean time that searches had when they began to run
	sources clients
	tenants clients

	since   time.Duration // when the window began
	full    bool          // in it a search had to wait or was refused
	ended   int           // in it
	refused int           // of ended
}

func newLimiter(c Config) *limiter {
	return &limiter{cfg: c, slots: c.Start, sources: newClients(), tenants: newClients()}
}

// admit returns who asks for a search, and whether it is admitted: take follows then.
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

// bound returns how many searches may be under way for this one to enter. A quarter of the
// places is kept for tenants with less than their share, and half of them for searches that
// are not of low priority.
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

// capacity returns how many searches can be under way so that another one with so much
// time left gets a slot soon enough.
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

// leave ends a search; those for whom there is a slot now wait no longer.
func (l *limiter) leave(now time.Duration, t *ticket) {
	t.source.places--
	t.tenant.places--
	if t.waiting != nil { // it has given up
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

// learn includes a search in the means.
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
