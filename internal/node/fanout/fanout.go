package fanout

import (
	"context"
	"errors"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Observer is told of what shards do, for metrics and logs. It is called from
// many goroutines. A nil Observer is never called.
type Observer interface {
	// Shard tells of one call: how long it took and its error, nil: answered.
	Shard(name string, took time.Duration, err error)
	// Merged tells how long merging took; Retried that all were asked again.
	Merged(took time.Duration)
	Retried()
}

// Fanout asks all shards of the newest map. It is a search.Searcher and a
// search.Explainer. Make it with New.
type Fanout struct {
	maps     Maps
	observer Observer
}

// New returns a fan-out over the maps; observer may be nil.
func New(maps Maps, observer Observer) *Fanout {
	return &Fanout{maps: maps, observer: observer}
}

// longest is the time of a search whose caller names none.
const longest = 5 * time.Second

// maxMargin bounds the time that is kept for merging and answering.
const maxMargin = 5 * time.Millisecond

// margin is the part of the time left that shards do not get, so that what
// they answer at the last moment still counts.
func margin(left time.Duration) time.Duration { return max(0, min(left/10, maxMargin)) }

// Search implements search.Searcher. fault.Unavailable: there is no map yet;
// fault.Overloaded: all shards refused.
func (f *Fanout) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	var message *pb.SearchRequest
	asked := func(m *Map) func(context.Context, Slave) (*search.Answer, error) {
		request := *r
		request.View = m.View
		message = wire.FromRequest(&request) // once for all shards
		return func(ctx context.Context, s Slave) (*search.Answer, error) {
			if c, ok := s.(*Client); ok {
				return c.send(ctx, message)
			}
			return s.Search(ctx, &request)
		}
	}
	g, m, err := gather(ctx, f, asked)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	sum := search.Merge(g.answers, r.Slots+1)
	missing := g.Missing()
	sum.Missing = append(sum.Missing, missing...)
	sum.Shards += len(missing)
	sum.View = m.View
	sum.CountsExact = sum.CountsExact && sum.Width == search.WholeRing()
	if f.observer != nil {
		f.observer.Merged(time.Since(began))
	}
	return sum, nil
}

// Explain implements search.Explainer.
func (f *Fanout) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	asked := func(m *Map) func(context.Context, Slave) (*search.Explanation, error) {
		request := *r
		request.View = m.View
		return func(ctx context.Context, s Slave) (*search.Explanation, error) {
			return s.Explain(ctx, &request, limit)
		}
	}
	g, m, err := gather(ctx, f, asked)
	if err != nil {
		return nil, err
	}
	sum := unite(g.answers, limit)
	sum.Missing, sum.View = g.Missing(), m.View
	return sum, nil
}

// gather asks the shards of the newest map until Gather has enough; ask is
// made anew for each map.
func gather[A any](ctx context.Context, f *Fanout, ask func(*Map) func(context.Context, Slave) (*A, error)) (*Gather[A], *Map, error) {
	m := f.maps.Current()
	if m == nil || len(m.Shards) == 0 {
		return nil, nil, fault.Newf(fault.Unavailable, "master: search",
			"no map of shards yet: is the balancer running, and have all slaves joined it?")
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(longest)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-margin(time.Until(deadline))))
	defer cancel()
	g := new(Gather[A])
	g.Begin(m.Shards)
	replies := start(ctx, f, m, ask(m))
	for step := Wait; step == Wait; {
		select {
		case r := <-replies:
			step = note(g, r)
		case <-ctx.Done():
			step = drain(g, replies)
		}
		if step != Again {
			continue
		}
		step = g.step()
		if newer := f.newer(ctx, m); newer != nil {
			m = newer
			g.Begin(m.Shards)
			replies, step = start(ctx, f, m, ask(m)), Wait
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, nil, fault.New(fault.Cancelled, "master: search", ctx.Err())
	}
	return g, m, g.Err()
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

// reply is what came of asking one shard.
type reply[A any] struct {
	shard  int
	answer *A
	err    error
}

func note[A any](g *Gather[A], r reply[A]) Step {
	if r.err != nil {
		return g.Failed(r.shard, r.err)
	}
	return g.Answered(r.shard, r.answer)
}

// drain notes what has come already when the time is over.
func drain[A any](g *Gather[A], replies <-chan reply[A]) Step {
	for {
		select {
		case r := <-replies:
			note(g, r)
		default:
			return g.TooLate()
		}
	}
}

// start asks all shards of m at once. The channel takes all of their replies,
// so that nobody is left waiting when nobody listens any more.
func start[A any](ctx context.Context, f *Fanout, m *Map, ask func(context.Context, Slave) (*A, error)) <-chan reply[A] {
	replies := make(chan reply[A], len(m.Shards))
	for i := range m.Shards {
		go func() {
			s := &m.Shards[i]
			began := time.Now()
			answer, err := ask(ctx, s.Slave)
			if f.observer != nil {
				f.observer.Shard(s.Name, time.Since(began), err)
			}
			replies <- reply[A]{i, answer, err}
		}()
	}
	return replies
}
