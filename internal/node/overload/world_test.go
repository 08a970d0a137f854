package overload

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// world is a simulation with its own time.
type world struct {
	now    time.Duration
	rnd    *rand.Rand
	events events
	serial int
}

type event struct {
	at     time.Duration
	serial int
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].serial < e[j].serial
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newWorld(seed uint64) *world { return &world{rnd: rand.New(rand.NewPCG(seed, 17))} }

// at schedules `do` for a time.
func (w *world) at(t time.Duration, do func()) {
	w.serial++
	heap.Push(&w.events, event{max(t, w.now), w.serial, do})
}

func (w *world) run(until time.Duration) {
	for len(w.events) > 0 && w.events[0].at <= until {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	w.now = until
}

// offer starts searches at random times, `rate` a second, from now until `end`.
func (w *world) offer(rate float64, end time.Duration, search func()) {
	next := w.now + time.Duration(w.rnd.ExpFloat64()*float64(time.Second)/rate)
	if next < end {
		w.at(next, func() {
			search()
			w.offer(rate, end, search)
		})
	}
}

// machine has some cores, which running searches share evenly. The cost of a search is processor
// time.
type machine struct {
	t      *testing.T
	w      *world
	cores  float64
	gate   *limiter
	held   []*ticket // all tickets in order of arrival
	jobs   []*job
	last   time.Duration
	checks int
	turn   int // counts changes, so that outdated events can be recognized
	spent  time.Duration
}

type job struct {
	left   time.Duration
	ticket *ticket
	done   func()
}

func newMachine(t *testing.T, w *world, cores, most int) *machine {
	m := &machine{t: t, w: w, cores: float64(cores)}
	m.gate = newLimiter(Config{Most: most, Least: cores, Start: cores, Prompt: time.Millisecond, Delay: m.delay})
	return m
}

// delay returns how long goroutines wait while others use each core in turns of 10 ms.
func (m *machine) delay() time.Duration {
	return time.Duration(max(0, float64(len(m.jobs))/m.cores-1) * float64(10*time.Millisecond))
}

// search requests a search. `done` is called at its end and receives whether the search was
// admitted.
func (m *machine) search(r Request, cost time.Duration, done func(bool)) {
	j := &job{left: cost, done: func() { done(true) }}
	j.ticket = enter(m.gate, m.w.now, r, func() { m.begin(j) })
	if j.ticket == nil {
		m.check()
		done(false)
		return
	}
	m.held = append(m.held, j.ticket)
	if j.ticket.waiting == nil {
		m.begin(j)
	}
	m.check()
}

// enter admits a search, or returns nil. `start` is called if the search has to wait first.
func enter(l *limiter, now time.Duration, r Request, start func()) *ticket {
	source, tenant, ok := l.admit(now, r)
	if !ok {
		return nil
	}
	t := &ticket{source: source, tenant: tenant, left: r.Left, start: start}
	l.enqueue(now, t)
	return t
}

func (m *machine) begin(j *job) {
	m.pass()
	m.jobs = append(m.jobs, j)
	m.plan()
}

// pass performs the work since the last change.
func (m *machine) pass() {
	if n := float64(len(m.jobs)); n > 0 {
		each := time.Duration(float64(m.w.now-m.last) * min(1, m.cores/n))
		for _, j := range m.jobs {
			j.left -= each
			m.spent += each
		}
	}
	m.last = m.w.now
}

// plan schedules the end of the job that ends first.
func (m *machine) plan() {
	m.turn++
	if len(m.jobs) == 0 {
		return
	}
	first := slices.MinFunc(m.jobs, func(a, b *job) int { return int(a.left - b.left) })
	turn, n := m.turn, float64(len(m.jobs))
	m.w.at(m.w.now+time.Duration(float64(max(first.left, 0))/min(1, m.cores/n))+1, func() {
		if m.turn != turn {
			return
		}
		m.pass()
		m.jobs = slices.DeleteFunc(m.jobs, func(j *job) bool { return j == first })
		m.plan()
		m.held = slices.DeleteFunc(m.held, func(t *ticket) bool { return t == first.ticket })
		m.gate.leave(m.w.now, first.ticket)
		m.check()
		first.done()
	})
}

// check compares the limiter's counts with those from a plain list of tickets.
func (m *machine) check() {
	if m.checks++; m.checks%16 != 0 {
		return
	}
	m.t.Helper()
	l := m.gate
	var running, waiting int
	places := map[*client]int{}
	for _, t := range m.held {
		if t.waiting == nil {
			running++
			if waiting > 0 {
				m.t.Fatal("a search overtook one that waits")
			}
		} else {
			waiting++
		}
		places[t.tenant]++
	}
	if running != l.running || waiting != l.queue.Len() || running != len(m.jobs) {
		m.t.Fatalf("%d running and %d waiting; the limiter has %d and %d, the machine %d", running, waiting, l.running, l.queue.Len(), len(m.jobs))
	}
	if waiting > 0 && running == 0 || running+waiting > l.cfg.Most || l.slots < l.cfg.Least || l.slots > l.cfg.Most {
		m.t.Fatalf("%d running, %d waiting, %d slots of %d to %d", running, waiting, l.slots, l.cfg.Least, l.cfg.Most)
	}
	for s, n := range places {
		if s.places != n {
			m.t.Fatalf("a tenant has %d places, the limiter counts %d", n, s.places)
		}
	}
}
