package sim

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/maps"
	"adshard/fault"
)

// world is a cluster in simulated time.
type world struct {
	cfg   Config
	times times
	now   time.Duration
	queue queue
	net   network
	rnd   *source

	db           *database
	slaves       []*slave
	distributors []*distributor
	masters      []*master
	balancers    []*balancer // the last is the right one

	maps    map[uint64]*balance.Model // durable models, by view
	sets    map[uint64]*balance.Model // durable models, by revision
	current balance.Strategy          // the strategy of the mapper, or of the next one
	paused  bool
	bouncer bouncer
	damaged time.Duration // until this time, copies are damaged

	checks *checks // nil if nothing is checked
	stats  *stats  // nil if nothing is measured
	broken error   // the first broken promise
	log    func(format string, args ...any)
	events uint64
	// history is a hash of everything that mappers reported and saved.
	history sum
}

// times are the periods at which processes repeat what they do.
type times struct {
	poll    time.Duration // of pulls, maps, quanta and feeds
	report  time.Duration
	timeout time.Duration // of calls
	unheard time.Duration // after which a silent distributor is considered gone
	grace   time.Duration // after which a slave without a balancer serves its data
	keep    uint64        // number of changes that the feed keeps at least
	query   time.Duration // deadline of a query
	watch   time.Duration // how long a master waits at the balancer for a newer map
	seed    time.Duration // deadline for asking a slave for its map
	maps    maps.Times
}

// at calls run at a time, or now if that time has passed.
func (w *world) at(at time.Duration, run func()) { w.queue.put(max(at, w.now), run) }

func (w *world) after(d time.Duration, run func()) { w.queue.put(w.now+d, run) }

// every calls run again and again while the process lives, for the first time soon.
func (w *world) every(p *process, period time.Duration, run func()) {
	life := p.life
	var again func()
	again = func() {
		if !p.up || p.life != life {
			return
		}
		run()
		w.after(w.jitter(period), again)
	}
	w.after(w.jitter(w.cfg.Latency), again)
}

// jitter returns a random time between half of d and one and a half times d.
func (w *world) jitter(d time.Duration) time.Duration {
	return time.Duration((0.5 + w.rnd.float()) * float64(d))
}

// work makes a process work for a time, after everything else that it has to do, and
// then calls done.
func (w *world) work(p *process, d time.Duration, done func()) {
	p.busy = max(p.busy, w.now) + time.Duration(float64(d)*p.slow)
	if p.busy == w.now {
		done()
		return
	}
	w.queue.put(p.busy, done)
}

// run handles events until a time, or until a promise is broken.
func (w *world) run(until time.Duration) {
	for w.broken == nil && len(w.queue.heap) > 0 && w.queue.heap[0].at <= until {
		e := w.queue.take()
		w.now = e.at
		w.events++
		e.run()
		if w.checks != nil && w.broken == nil {
			w.checks.event()
		}
	}
	if w.broken == nil {
		w.now = max(w.now, until)
	}
}

// fail records a broken promise, which ends the run.
func (w *world) fail(format string, args ...any) {
	if w.broken == nil {
		w.broken = fault.Newf(fault.Internal, "sim", "at %v: %s", w.now, fmt.Sprintf(format, args...))
	}
}

// must fails if a state machine returned an error that it must not return here.
func (w *world) must(err error, what string) {
	if err != nil {
		w.fail("%s: %v", what, err)
	}
}

// saved takes note of a state that has become durable.
func (w *world) saved(state []byte) {
	w.history = w.history.add(string(state))
	s, err := balance.DecodeState(state)
	w.must(err, "read the saved state")
	if err != nil {
		return
	}
	w.maps[s.Model.View()], w.sets[s.Model.Revision()] = s.Model, s.Model
	w.bouncer.saved(w, s.Model)
	w.spoil(s.Model)
	if w.checks != nil {
		w.checks.saved(s.Model)
	}
	if w.stats != nil {
		w.stats.observe(w, s.Model)
	}
}

// trouble takes an error that a mapper reports.
func (w *world) trouble(b *balancer, err error) {
	w.history = w.history.add(err.Error())
	if w.log != nil {
		w.log("%v: %s complains: %v", w.now, b.name, err)
	}
	if w.stats != nil {
		w.stats.result.Troubles = append(w.stats.result.Troubles, err.Error())
	}
}

// told records an event that a mapper reports.
func (w *world) told(b *balancer, e cluster.Event) {
	w.history = w.history.add(e.Text)
	if w.log != nil {
		w.log("%v: %s: %v", w.now, b.name, e)
	}
	if w.stats != nil {
		w.stats.result.Events = append(w.stats.result.Events, fmt.Sprintf("%v %v", w.now-w.stats.from, e))
	}
}

func (w *world) slave(name string) *slave {
	for _, s := range w.slaves {
		if s.name == name {
			return s
		}
	}
	return nil
}

// balancer returns the newest balancer that runs, or nil if none does.
func (w *world) balancer() *balancer {
	for i := len(w.balancers) - 1; i >= 0; i-- {
		if w.balancers[i].up {
			return w.balancers[i]
		}
	}
	return nil
}

// balancerOf returns the balancer that a process asks. While two run by mistake, some
// processes sometimes ask the older one.
func (w *world) balancerOf(p *process) *balancer {
	b := w.balancer()
	for _, other := range w.balancers {
		if other.up && other != b && (&source{state: uint64(w.now / (4 * w.times.poll))}).fork(p.name).chance(2) {
			return other
		}
	}
	return b
}

// key returns the key of an item of an owner in scenarios. The owners are spread around
// the ring.
func key(owner, item int) balance.Key {
	return balance.Key(uint64(owner+1)*0x1c71c71c<<32 | uint64(item+1))
}
