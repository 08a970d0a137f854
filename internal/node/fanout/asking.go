package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"adshard/fault"
)

// begin asks one slave; done gets what became of it (Slave.Ask).
type begin[A any] func(ctx context.Context, s Slave, done func(*A, error)) Pending

// gather asks the shards of the newest map until Gather has enough; ask is made for
// each map.
func gather[A any](ctx context.Context, f *Fanout, ask func(*Map) begin[A]) (*Gather[A], *Map, error) {
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
	a := newAsking[A](f, m.Shards, patience(left))
	a.start(ctx, ask(m))
	for step := Wait; step != Enough; {
		select {
		case step = <-a.steps:
		case <-ctx.Done():
			step = a.stop(ctx.Err())
		}
		if step != Again {
			continue
		}
		if newer := f.newer(ctx, m); newer != nil {
			a.stop(context.Canceled)
			m = newer
			a = newAsking[A](f, m.Shards, patience(time.Until(deadline)))
			a.g.retried = true
			a.start(ctx, ask(m))
		}
	}
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
// slaves, who do not wait for the query: its own goroutine wakes up when there is a
// step to take.
type asking[A any] struct {
	f        *Fanout
	began    time.Time
	patience time.Duration
	pending  []Pending // by shard; nil: not asked
	steps    chan Step // Again and Enough, each at most once

	mu sync.Mutex
	g  Gather[A] // under mu until it is over
}

func newAsking[A any](f *Fanout, shards []Shard, patience time.Duration) *asking[A] {
	a := &asking[A]{f: f, began: time.Now(), patience: patience, pending: make([]Pending, len(shards)), steps: make(chan Step, 2)}
	a.g.Begin(shards)
	return a
}

// start asks all shards, except those that are left out.
func (a *asking[A]) start(ctx context.Context, ask begin[A]) {
	began := a.began.Sub(a.f.start)
	for i := range a.pending {
		s := &a.g.shards[i]
		if s.Presence.Out() {
			a.leaveOut(i)
			continue
		}
		s.Presence.Asked(began, a.patience)
		a.pending[i] = ask(ctx, s.Slave, func(answer *A, err error) { a.ended(i, answer, err) })
	}
}

// ended notes what became of asking shard i, unless it is too late.
func (a *asking[A]) ended(i int, answer *A, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.g.over {
		return
	}
	a.observe(i, err)
	if err != nil {
		a.tell(a.g.Failed(i, err))
	} else {
		a.tell(a.g.Answered(i, answer))
	}
}

// leaveOut notes that shard i is not asked.
func (a *asking[A]) leaveOut(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(a.g.Failed(i, errSilent))
}

// tell tells the query of a step. There is always room: Again comes once, and Enough
// with the last reply. Called under mu.
func (a *asking[A]) tell(step Step) {
	if step == Again {
		a.steps <- step
		step = a.g.step()
	}
	if step == Enough {
		a.steps <- step
	}
}

// observe reports what became of asking shard i.
func (a *asking[A]) observe(i int, err error) {
	s := &a.g.shards[i]
	took := time.Since(a.began)
	s.Presence.Replied(a.began.Sub(a.f.start)+took, err)
	if a.f.observer != nil {
		a.f.observer.Shard(s.Name, took, err)
	}
}

// stop gives up what is under way: it is too late.
func (a *asking[A]) stop(why error) Step {
	a.mu.Lock()
	open := a.g.unanswered()
	step := a.g.TooLate()
	a.mu.Unlock()
	for _, i := range open {
		a.pending[i].GiveUp(why)
		a.observe(i, fault.New(fault.KindOf(why), "master: search", why))
	}
	return step
}
