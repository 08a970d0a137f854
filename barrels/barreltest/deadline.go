package barreltest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"adshard/fault"
)

// expiring is a context that ends after n checks.
type expiring struct {
	context.Context
	left atomic.Int64
	done chan struct{}
}

func expireAfter(looks int64) *expiring {
	e := &expiring{Context: context.Background(), done: make(chan struct{})}
	e.left.Store(looks)
	close(e.done)
	return e
}

func (e *expiring) Deadline() (time.Time, bool) { return time.Now(), true }

func (e *expiring) Done() <-chan struct{} {
	if e.left.Load() >= 0 {
		return nil
	}
	return e.done
}

func (e *expiring) Err() error {
	if e.left.Add(-1) >= 0 {
		return nil
	}
	return context.DeadlineExceeded
}

// deadlines checks that a search looks at its context at each block and ends when the context does,
// wherever it is, and that the store goes on working.
func deadlines(t *testing.T, open Open) {
	s := open(t, "deadlines")
	defer s.Close()
	put(t, s, NewBuilder(t, Small(2000, "cable")).All())
	for _, looks := range []int64{1, 3, 7} {
		if _, err := s.Search(expireAfter(looks), query(t, "cable")); !fault.Is(err, fault.Deadline) {
			t.Fatalf("over after %d looks: %v", looks, err)
		}
	}
	matches(t, s, "cable", 2000)
	for _, looks := range []int64{1, 3, 7} { // now from the cache, if the store has one
		if _, err := s.Search(expireAfter(looks), query(t, "cable")); !fault.Is(err, fault.Deadline) {
			t.Fatalf("over after %d looks: %v", looks, err)
		}
	}
	if _, err := s.Explain(expireAfter(3), query(t, "cable"), 10); !fault.Is(err, fault.Deadline) {
		t.Fatal(fmt.Errorf("an explanation over in the middle: %w", err))
	}
}
