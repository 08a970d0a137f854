package shardserver_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// growing is a store whose clock a test sets.
type growing struct {
	testStore
	clock atomic.Uint64
}

func (g *growing) Position() *pb.Position { return &pb.Position{Clock: g.clock.Load(), Mark: 5} }

func newGrowing(clock uint64) *growing {
	g := &growing{testStore: testStore{search: func(_ context.Context, r *search.Request) (*search.Answer, error) {
		return &search.Answer{Shard: r.Shard}, nil
	}}}
	g.clock.Store(clock)
	return g
}

func least(clock, mark uint64) search.Tags {
	return search.Tags{Least: search.Position{Clock: clock, Mark: mark}}
}

// TestALeastClock: a slave that is behind waits for the changes, and refuses before the
// time is over; it refuses a change of another history at once.
func TestALeastClock(t *testing.T) {
	g := newGrowing(7)
	address, _, _ := slave(t, g, 8, nil)
	c := master(t, address)
	within := func(d time.Duration, tags search.Tags) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err := asks(ctx, c, tagged(tags))
		return err
	}
	if err := within(time.Minute, least(7, 0)); err != nil {
		t.Error(err)
	}
	if err := within(time.Minute, least(7, 5)); err != nil {
		t.Error(err)
	}
	if err := within(time.Minute, least(7, 6)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a change of another history: %v", err)
	}
	if err := within(time.Second, least(8, 0)); !fault.Is(err, fault.Behind) || !strings.Contains(err.Error(), "clock 7") {
		t.Error(err)
	}
	go func() { time.Sleep(50 * time.Millisecond); g.clock.Store(9) }()
	if err := within(time.Minute, least(9, 5)); err != nil {
		t.Error(err)
	}
}

// TestFewWaitForChanges: a few searches wait at a time, others are refused at once.
func TestFewWaitForChanges(t *testing.T) {
	const most, searches = 16, 40
	g := newGrowing(7)
	address, _, _ := slave(t, g, 64, nil)
	c := master(t, address)
	var all sync.WaitGroup
	var refused, answered atomic.Int64
	for range searches {
		all.Go(func() {
			switch _, err := asks(t.Context(), c, tagged(least(8, 0))); {
			case err == nil:
				answered.Add(1)
			case fault.Is(err, fault.Behind):
				if refused.Add(1) == searches-most {
					g.clock.Store(8)
				}
			}
		})
	}
	all.Wait()
	if refused.Load() != searches-most || answered.Load() != most {
		t.Errorf("%d refused, %d answered", refused.Load(), answered.Load())
	}
}
