package fanout

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/search"
)

// begin asks one slave; the caller gets what became of it (Slave.Ask).
type begin[A any] func(ctx context.Context, s Slave, c caller[A]) Pending

// caller is who made a call.
type caller[A any] struct {
	a     *asking[A]
	k     int
	hedge bool
	trace string // of the call; "": it is not traced
}

// tagged returns the request as this call sends it.
func (c caller[A]) tagged(r *wire.Shared) *wire.Shared {
	if !c.hedge && c.trace == "" {
		return r
	}
	tags := r.Request().Tags
	tags.Hedge, tags.Trace = c.hedge, c.trace
	return r.With(tags)
}

// done takes what became of the call (Done).
func (c caller[A]) done(answer *A, err error) { c.a.ended(c.k, answer, err) }

// begun notes that the slave is asked only now, unless that is too late.
func (c caller[A]) begun() {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	if call := &c.a.calls[c.k]; !call.over { // then whoever ended it reads it
		call.began = c.a.f.now()
	}
}

// plan is what a fan-out asks.
type plan[A any] struct {
	// judge says what the answer of a replica is worth when there are others; an error:
	// nothing.
	judge func(*Shard, *A) (worth, error)
	// topic is what it is about, for caches; 0: it does not say.
	topic uint64
	// timed: how long it takes says how fast a replica is.
	timed bool
	// timing takes how long each call takes; nil: nobody asks.
	timing *search.Timing
	// hedged: if it takes longer than most searches do, another replica is asked as well.
	hedged bool
}

// gather asks the shards of the newest map until Gather has enough; ask is made for
// each map.
func gather[A any](ctx context.Context, f *Fanout, p plan[A], ask func(*Map) begin[A]) (*Gather[A], *Map, error) {
	m := f.maps.Current()
	if m == nil || len(m.Shards) == 0 {
		return nil, nil, fault.Newf(fault.Unavailable, "master: search",
			"no map of shards yet: is the balancer running, and have all slaves registered with it?")
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(longest)
	}
	left := time.Until(deadline)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-margin(left)))
	defer cancel()
	a := newAsking(f, p, m, left)
	a.start(ctx, ask(m))
	for a.wait(ctx) == Again {
		if newer := f.newer(ctx, m); newer != nil {
			a.stop(context.Canceled)
			m = newer
			a = newAsking(f, p, m, time.Until(deadline))
			a.g.retried = true
			a.start(ctx, ask(m))
		}
	}
	a.stopTimer()
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, nil, fault.New(fault.Cancelled, "master: search", ctx.Err())
	}
	return &a.g, m, a.g.Err()
}

// newer waits for a map after m, at most half of the time left.
func (f *Fanout) newer(ctx context.Context, m *Map) *Map {
	if f.observer != nil {
		f.observer.Retried()
	}
	wait := time.Second
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	newer := f.maps.Newer(ctx, m)
	if newer == nil || len(newer.Shards) == 0 {
		return nil
	}
	return newer
}

// asking is the shards of one map, asked at once. Replies come on goroutines of the
// slaves, who do not wait for the query: its own goroutine wakes up when there is
// something to do.
type asking[A any] struct {
	f        *Fanout
	plan     plan[A]
	ask      begin[A]
	patience time.Duration
	wake     chan struct{} // full: there is something to do
	look     *time.Timer   // when to look after calls that wait; nil: no shard has replicas

	mu    sync.Mutex
	g     Gather[A] // under mu until it is over
	again bool      // the view is stale; under mu
	// calls are the first of each shard, by shard, then further ones. The query's own
	// goroutine alone adds to them, and knows pending.
	calls []call    // under mu
	turns []turn[A] // by shard; nil: none has replicas; under mu
	todo  []int     // shards of which another replica may be asked; under mu
	lost  bool      // calls are under way to shards that have answered; under mu

	span *tracing.Span // of the fan-out; nil: it is not traced
}

// call is one call to a replica.
type call struct {
	pending  Pending
	span     *tracing.Span // set before it begins; nil: it is not traced
	began    time.Duration
	shard    int32
	replica  int8
	hedge    bool
	over     bool // it has ended, was given up, or never began
	replaced bool // another replica was to be asked in its place, though it is not over
}

// giveUp says that nobody waits for the call any more.
func (c *call) giveUp(why error) {
	if c.pending != nil {
		c.pending.GiveUp(why)
	}
}

func newAsking[A any](f *Fanout, p plan[A], m *Map, left time.Duration) *asking[A] {
	a := &asking[A]{f: f, plan: p, patience: choice.Patience(left), wake: make(chan struct{}, 1),
		calls: make([]call, len(m.Shards))}
	a.g.Begin(m.Shards)
	if m.replicated() {
		a.turns = make([]turn[A], len(m.Shards))
	}
	return a
}

// start asks a replica of each shard, unless all of them are silent.
func (a *asking[A]) start(ctx context.Context, ask begin[A]) {
	a.ask = ask
	if a.plan.timing != nil {
		a.span = tracing.Of(ctx)
	}
	c := choice.Call{Now: a.f.now(), Patience: a.patience, Topic: a.plan.topic}
	for i := range a.g.shards {
		if a.turns != nil {
			c.Random = rand.Uint64()
		}
		r := a.g.shards[i].Choice.First(c)
		a.calls[i] = call{began: c.Now, shard: int32(i), replica: int8(r), over: r == choice.None}
		if r == choice.None {
			a.leaveOut(i)
			continue
		}
		if a.turns != nil {
			a.turns[i].began(r)
		}
		a.send(ctx, i)
	}
	a.setTimer(c.Now)
}

// send sends call k.
func (a *asking[A]) send(ctx context.Context, k int) {
	c := &a.calls[k]
	s := a.g.shards[c.shard].Replicas[c.replica].Slave
	who := caller[A]{a, k, c.hedge, ""}
	if a.span != nil {
		who.trace = a.trace(k)
	}
	pending := a.ask(ctx, s, who)
	c.pending = pending
}

// leaveOut notes that shard i is not asked.
func (a *asking[A]) leaveOut(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns != nil {
		a.turns[i].done = true
	}
	a.tell(a.g.Failed(i, errSilent))
}

// ended notes what became of call k, unless it is too late.
func (a *asking[A]) ended(k int, answer *A, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &a.calls[k]
	if a.g.over || c.over {
		return
	}
	c.over = true
	s := &a.g.shards[c.shard]
	if len(s.Replicas) > 1 {
		a.took(c, answer, err)
		return
	}
	a.observe(c, outcomeOf(err), err)
	if err != nil {
		a.tell(a.g.Failed(int(c.shard), err))
	} else {
		a.tell(a.g.Answered(int(c.shard), answer))
	}
}

// observe notes what became of a call, and reports whether its replica is ejected.
func (a *asking[A]) observe(c *call, o choice.Outcome, err error) (ejected bool) {
	s := &a.g.shards[c.shard]
	now := a.f.now()
	if c.span != nil {
		endSpan(c.span, o, err)
	}
	if o != choice.Beaten && o != choice.Needless {
		a.report(c, now, err)
	}
	if !a.plan.timed {
		return s.Choice.Ended(int(c.replica), now, 0, o)
	}
	return s.Choice.Ended(int(c.replica), now, now-c.began, o)
}

// report tells the observer, and whoever times the request, of a call that has ended.
func (a *asking[A]) report(c *call, now time.Duration, err error) {
	s := &a.g.shards[c.shard]
	replica := s.Replicas[c.replica].Name
	if a.f.observer != nil {
		a.f.observer.Called(s.Name, replica, now-c.began, err)
	}
	if a.plan.timing != nil {
		a.plan.timing.Add(search.Part{Name: s.Name, Replica: replica, Began: a.f.start.Add(c.began), Took: now - c.began, Err: err})
	}
}

// tell wakes the query up if there is a step to take. Called under mu.
func (a *asking[A]) tell(step Step) {
	if step == Wait {
		return
	}
	if step == Again {
		a.again = true
	}
	a.rouse()
}

// rouse wakes the query up.
func (a *asking[A]) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// wait waits until there are enough answers, or it is to be asked again.
func (a *asking[A]) wait(ctx context.Context) Step {
	for {
		if step := a.step(ctx); step != Wait {
			return step
		}
		select {
		case <-a.wake:
		case <-a.timer():
			a.lookAfter(ctx)
		case <-ctx.Done():
			return a.stop(ctx.Err())
		}
	}
}

// step does what there is to do, and returns what the query does next.
func (a *asking[A]) step(ctx context.Context) Step {
	if a.turns != nil {
		a.askOthers(ctx)
		a.giveUpLost()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.again {
		a.again = false
		return Again
	}
	return a.g.step()
}

// stop gives up what is under way: it is too late.
func (a *asking[A]) stop(why error) Step {
	a.mu.Lock()
	a.settle()
	open := a.open(func(*call) bool { return true })
	step := a.g.TooLate()
	a.mu.Unlock()
	for _, k := range open {
		c := &a.calls[k]
		c.giveUp(why)
		a.observe(c, choice.GaveUp, fault.New(fault.KindOf(why), "master: search", why))
	}
	a.stopTimer()
	return step
}

// open ends the calls that are under way and selected, and returns which they are.
// Called under mu.
func (a *asking[A]) open(selected func(*call) bool) (list []int) {
	for k := range a.calls {
		if c := &a.calls[k]; !c.over && selected(c) {
			c.over = true
			list = append(list, k)
		}
	}
	return list
}
