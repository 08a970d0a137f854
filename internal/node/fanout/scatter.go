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

// plan says what all shards are asked, and how.
type plan[A any] struct {
	request *search.Request
	// ask asks one slave; `done` gets the answer. It returns either the request under way, or a
	// function that makes the request and may take a while.
	ask func(ctx context.Context, s Slave, r *wire.Shared, done func(*A, error)) (Pending, func())
	// judge says how good a replica's answer is compared with others; an error means that it cannot
	// be used.
	judge func(*Shard, *A) (worth, error)
	// topic is what the query is about, for caches, or 0 if unknown.
	topic uint64
	// timed says that the duration of a call shows how fast a replica is.
	timed bool
	// hedged says that another replica is asked as well if a call takes longer than most searches.
	hedged bool
}

// gather asks the shards of the newest map, and waits until all have answered or failed, or no time
// is left. If a view is no longer served and there is a newer map, it asks once more.
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

// newer waits for a map that is newer than m, for at most half of the time left.
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

// scatter is a query under way to the shards of one map, which are asked at the same time. Replies
// arrive on goroutines of the slaves, which do not wait for the query: the query's own goroutine
// wakes up when there is something to do.
type scatter[A any] struct {
	*plan[A]
	f        *Fanout
	shared   *wire.Shared // the request with the map's view
	patience time.Duration
	span     *tracing.Span // of the fan-out, or nil if it is not traced
	line     line
	wake     chan struct{} // full if there is something to do

	mu      sync.Mutex
	replies replies[A] // under mu until the query is over
	open    int        // shards that have neither answered nor failed; under mu
	stale   bool       // a shard no longer serves the view; under mu
	// calls has the first call of each shard, in the order of shards, and then further ones. Only
	// the query's own goroutine adds to it, and uses call.pending.
	calls []call    // under mu
	turns []turn[A] // by shard, or nil if no shard has more than one replica; under mu
}

// call is one call to a replica.
type call struct {
	pending  Pending
	span     *tracing.Span // set before the call begins, or nil if it is not traced
	began    time.Duration
	shard    int32
	replica  int8
	hedge    bool
	over     bool // the call has ended, was given up, or never began
	replaced bool // another replica is to be asked in its place, although it is not over
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

// leaveOut records that shard i is not asked.
func (s *scatter[A]) leaveOut(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish(i, nil, errSilent)
}

// send makes call k.
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

// begun records that a slave is asked only now, unless the call is over already.
func (s *scatter[A]) begun(k int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := &s.calls[k]; !c.over { // a call that is over has been evaluated already
		c.began = s.f.now()
	}
}

// wait waits until all shards have answered or failed, or no time is left. With `retry`, it also
// returns when a shard no longer serves the view, and reports that.
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

// stop gives up all calls under way, since it is too late for them. For shards with replicas it
// uses what is known: an answer, even an incomplete one, or that the data is not new enough.
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

// end ends the calls under way that `selected` accepts, and returns their numbers. The caller holds
// mu.
func (s *scatter[A]) end(selected func(*call) bool) (list []int) {
	for k := range s.calls {
		if c := &s.calls[k]; !c.over && selected(c) {
			c.over = true
			list = append(list, k)
		}
	}
	return list
}

// giveUp records that calls are no longer awaited: because no time is left, or, if `late` is nil,
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
