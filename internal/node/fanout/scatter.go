package fanout

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/search"
)

// plan is what all shards are asked.
type plan[A any] struct {
	request *search.Request
	// ask asks one slave; done gets the answer. It returns what is under way, or what is
	// left to do, which takes a while.
	ask func(ctx context.Context, s Slave, r *wire.Shared, done func(*A, error)) (Pending, func())
	// judge says what the answer of a replica is worth when there are others; an error
	// means nothing.
	judge func(*Shard, *A) (worth, error)
	// topic is what it is about, for caches, or 0 if it does not say.
	topic uint64
	// timed: how long it takes says how fast a replica is.
	timed bool
	// hedged: if it takes longer than most searches do, another replica is asked as well.
	hedged bool
}

// gather asks the shards of the newest map, once more if their view is over and there is a
// newer one, until all have answered or failed, or there is no time left.
func (p *plan[A]) gather(ctx context.Context, f *Fanout) (*replies[A], *Map, error) {
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
	s := p.start(ctx, f, m, left)
	if s.wait(ctx, true) {
		if newer := f.newer(ctx, m); newer != nil {
			s.stop(context.Canceled)
			m, s = newer, p.start(ctx, f, newer, time.Until(deadline))
		}
		s.wait(ctx, false)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, nil, fault.New(fault.Cancelled, "master: search", ctx.Err())
	}
	return &s.replies, m, s.replies.refused()
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

// scatter is a query under way to the shards of one map, which are asked at once. Replies
// come on goroutines of the slaves, which do not wait for the query: its own goroutine
// wakes up when there is something to do.
type scatter[A any] struct {
	*plan[A]
	f        *Fanout
	shared   *wire.Shared // the request, of the map's view
	patience time.Duration
	span     *tracing.Span // of the fan-out; nil: it is not traced
	line     line
	wake     chan struct{} // full: there is something to do

	mu      sync.Mutex
	replies replies[A] // under mu until it is over
	open    int        // shards that have neither answered nor failed; under mu
	stale   bool       // a shard no longer serves the view; under mu
	// calls are the first of each shard, by shard, then further ones. Only the query's own
	// goroutine adds to them, and knows pending.
	calls []call    // under mu
	turns []turn[A] // by shard; nil: none has replicas; under mu
}

// call is one call to a replica.
type call struct {
	pending  Pending
	span     *tracing.Span // set before it begins, or nil if it is not traced
	began    time.Duration
	shard    int32
	replica  int8
	hedge    bool
	over     bool // it has ended, was given up, or never began
	replaced bool // another replica was to be asked in its place, though it is not over
}

// start asks a replica of each shard, unless all of them are silent.
func (p *plan[A]) start(ctx context.Context, f *Fanout, m *Map, left time.Duration) *scatter[A] {
	request, n := *p.request, len(m.Shards)
	request.View, request.Timing = m.View, nil
	s := &scatter[A]{plan: p, f: f, shared: wire.Share(&request), patience: choice.Patience(left), wake: make(chan struct{}, 1),
		replies: replies[A]{m.Shards, make([]*A, n), make([]error, n)}, open: n, calls: make([]call, n)}
	if m.replicated() {
		s.turns = make([]turn[A], n)
	} else {
		s.line.searches = make([]queued, 0, n)
	}
	if p.request.Timing != nil {
		s.span = tracing.Of(ctx)
	}
	c := choice.Call{Now: f.now(), Patience: s.patience, Topic: p.topic}
	for i := range m.Shards {
		if s.turns != nil {
			c.Random = rand.Uint64()
		}
		r := m.Shards[i].Choice.First(c)
		s.calls[i] = call{began: c.Now, shard: int32(i), replica: int8(r), over: r == choice.None}
		if r == choice.None {
			s.leaveOut(i)
			continue
		}
		if s.turns != nil {
			s.turns[i].began(r)
		}
		s.send(ctx, i)
	}
	if len(s.line.searches) > 0 {
		s.line.begun = s.begun
		go s.line.run(ctx)
	}
	return s
}

// leaveOut notes that shard i is not asked.
func (s *scatter[A]) leaveOut(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish(i, nil, errSilent)
}

// send sends call k.
func (s *scatter[A]) send(ctx context.Context, k int) {
	c, r := &s.calls[k], s.shared
	to := &s.replies.shards[c.shard]
	replica := &to.Replicas[c.replica]
	if c.hedge || s.span != nil {
		tags := r.Request().Tags
		tags.Hedge = c.hedge
		if s.span != nil {
			c.span = s.span.Call("shard", time.Now(), attribute.String("adshard.shard", to.Name),
				attribute.String("adshard.replica", replica.Name), attribute.Bool("adshard.hedge", c.hedge))
			tags.Trace = c.span.Context()
		}
		r = r.With(tags)
	}
	pending, rest := s.ask(ctx, replica.Slave, r, func(a *A, err error) { s.ended(k, a, err) })
	c.pending = pending
	switch {
	case rest == nil:
	case s.turns == nil:
		s.line.searches = append(s.line.searches, queued{k, rest})
	default: // a call that waits in a line would be hedged
		go rest()
	}
}

// begun notes that a slave is asked only now, unless that is too late.
func (s *scatter[A]) begun(k int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := &s.calls[k]; !c.over { // then it was read when it ended
		c.began = s.f.now()
	}
}

// wait waits until all shards have answered or failed, or there is no time left; if retry,
// until a shard no longer serves the view, which it reports.
func (s *scatter[A]) wait(ctx context.Context, retry bool) (stale bool) {
	for {
		over, stale, next := s.look(ctx)
		var tick <-chan time.Time
		switch {
		case retry && stale:
			return true
		case over:
			return false
		case s.turns != nil:
			tick = time.After(next)
		}
		select {
		case <-s.wake:
		case <-tick:
		case <-ctx.Done():
			s.stop(ctx.Err())
			return false
		}
	}
}

// stop gives up what is under way: it is too late. For shards with replicas what is known
// counts: an answer, even if it is incomplete, or that the data are not new enough.
func (s *scatter[A]) stop(why error) {
	s.mu.Lock()
	for i := range s.turns {
		switch t := &s.turns[i]; {
		case t.done:
		case t.best != nil:
			s.finish(i, t.best, nil)
		case fault.Is(t.err, fault.Behind):
			s.finish(i, nil, t.err)
		}
	}
	open := s.end(func(*call) bool { return true })
	s.mu.Unlock()
	s.giveUp(open, why)
}

// end ends the calls that are under way and selected, and returns which they are. Called
// under mu.
func (s *scatter[A]) end(selected func(*call) bool) (list []int) {
	for k := range s.calls {
		if c := &s.calls[k]; !c.over && selected(c) {
			c.over = true
			list = append(list, k)
		}
	}
	return list
}

// giveUp notes that calls are no longer awaited: because no time is left, or, if err is nil,
// because another replica was quicker.
func (s *scatter[A]) giveUp(calls []int, late error) {
	for _, k := range calls {
		c := &s.calls[k]
		why, o, err := late, choice.GaveUp, error(nil)
		switch {
		case late != nil:
			err = fault.New(fault.KindOf(late), "master: search", late)
		case c.hedge:
			why, o = context.Canceled, choice.Needless
		default:
			why, o = context.Canceled, choice.Beaten
		}
		if c.pending != nil {
			c.pending.GiveUp(why)
		}
		s.observe(c, o, err)
	}
}
