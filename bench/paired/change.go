package paired

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

const (
	// batch is the approximate number of keywords that change at once if changes
	// follow searches.
	batch = 256
	// tick is the time between two batches if changes follow the clock.
	tick = 20 * time.Millisecond
)

// changer changes keywords of one entrant, whole ad groups at a time.
type changer struct {
	store layouts.Changer
	set   *layouts.Set
	dice  *rand.Rand
	like  []uint32 // the entrant's
	next  []layouts.Change
	// done is the number of changed keywords.
	done int64
}

func newChanger(t *turn) *changer {
	e, set := t.entrant, t.plan.Set
	if e.like == nil {
		e.like = make([]uint32, set.Len())
		for i := range e.like {
			e.like[i] = uint32(i)
		}
	}
	store := e.store.(layouts.Changer) // enter admits no other stores
	return &changer{store: store, set: set, dice: rand.New(rand.NewPCG(1, uint64(t.first))), like: e.like}
}

// changing changes keywords while search runs, and returns how many it has
// changed.
func changing(ctx context.Context, t *turn, workers []*worker, search func(context.Context) error) (int64, error) {
	c := newChanger(t)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	due := make(chan int, 2*len(workers))
	if t.changes.Share > 0 {
		perSearch := t.changes.Share / (1 - t.changes.Share)
		for _, w := range workers {
			w.paced = pace(due, perSearch)
		}
	}
	ended := make(chan error, 1)
	go func() {
		defer cancel() // a search must not wait for failed changes
		if t.changes.Rate > 0 {
			ended <- c.byClock(inner, t.changes.Rate)
		} else {
			ended <- c.asDue(inner, due)
		}
	}()
	err := search(inner)
	cancel()
	changed := <-ended
	if ctx.Err() == nil {
		// One of the two ended only because the other had.
		err, changed = unlessCancelled(err), unlessCancelled(changed)
	}
	return c.done, errors.Join(err, changed)
}

func unlessCancelled(err error) error {
	if fault.Is(err, fault.Cancelled) {
		return nil
	}
	return err
}

// pace returns a function that a worker calls after each search: it requests
// the changes that are due for their share, and waits if they lag behind.
func pace(due chan<- int, perSearch float64) func(context.Context) error {
	owed := 0.0
	return func(ctx context.Context) error {
		if owed += perSearch; owed < batch {
			return nil
		}
		owed -= batch
		select {
		case due <- batch:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// asDue changes as many keywords as are requested.
func (c *changer) asDue(ctx context.Context, due <-chan int) error {
	for debt := 0; ; {
		select {
		case n := <-due:
			debt += n
		case <-ctx.Done():
			return ctx.Err()
		}
		for debt > 0 && ctx.Err() == nil {
			did, err := c.change(ctx, debt)
			if err != nil {
				return err
			}
			debt -= did
		}
	}
}

// byClock changes `rate` keywords per second. If it lags behind, it catches up
// with at most one second.
func (c *changer) byClock(ctx context.Context, rate float64) error {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	last, owed := time.Now(), 0.0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-ticks.C:
			owed = min(owed+rate*now.Sub(last).Seconds(), rate)
			last = now
			did, err := c.change(ctx, int(owed))
			if err != nil {
				return err
			}
			owed -= float64(did)
		}
	}
}

// change changes about n keywords and waits until searches see the changes. It
// cannot be interrupted, so that the state of every keyword is known.
func (c *changer) change(ctx context.Context, n int) (int, error) {
	c.next = c.next[:0]
	seen := map[int]bool{}
	for len(c.next) < n && len(seen) < len(c.set.Groups) {
		g := c.dice.IntN(len(c.set.Groups))
		if seen[g] {
			continue
		}
		seen[g] = true
		c.group(g, c.dice.IntN(len(c.set.Groups)))
	}
	if len(c.next) == 0 {
		return 0, nil
	}
	if err := c.store.Change(context.WithoutCancel(ctx), c.next); err != nil {
		return 0, err
	}
	for _, one := range c.next {
		c.like[one.Keyword] = uint32(one.Like)
	}
	c.done += int64(len(c.next))
	return len(c.next), nil
}

// group gives the keywords of group g the words of the keywords of another
// group, in turn.
func (c *changer) group(g, other int) {
	first, end := int(c.set.Groups[other].First), c.set.GroupEnd(other)
	for i := int(c.set.Groups[g].First); i < c.set.GroupEnd(g); i++ {
		like := first + (i-int(c.set.Groups[g].First))%(end-first)
		c.next = append(c.next, layouts.Change{Keyword: i, Like: like})
	}
}
