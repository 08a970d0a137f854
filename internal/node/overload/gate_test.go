package overload

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/fault"
)

// TestGate: with one slot and two places, the second search waits for the first or gives up at its
// deadline, and the third is refused.
func TestGate(t *testing.T) {
	g := New(Config{Most: 2, Least: 1, Start: 1})
	r := Request{Left: time.Second}
	first, err := g.Enter(r)
	if err != nil || first.Wait(t.Context()) != nil {
		t.Fatal(err)
	}
	second, err := g.Enter(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Enter(r); !fault.Is(err, fault.Overloaded) {
		t.Fatalf("a third: %v", err)
	}
	if s := g.State(); s != (State{Slots: 1, Running: 1, Waiting: 1}) {
		t.Errorf("%+v", s)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := second.Wait(late); !fault.Is(err, fault.Deadline) {
		t.Errorf("it waited: %v", err)
	}
	second.Leave()
	if second, err = g.Enter(r); err != nil {
		t.Fatal(err)
	}
	first.Leave()
	if err := second.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	second.Leave()
	if s := g.State(); s.Running+s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}

// TestGateOfManyGoroutines: never more searches run than there are slots, and all places are
// released, whichever side gives up.
func TestGateOfManyGoroutines(t *testing.T) {
	const slots = 3
	g := New(Config{Most: 50, Least: slots, Start: slots, Delay: func() time.Duration { return time.Second }})
	var running, answered atomic.Int64
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			leave := g.Join(string(rune('a' + n%4)))
			defer leave()
			for i := range 200 {
				p, err := g.Enter(Request{Source: string(rune('a' + n%4)), Low: i%3 == 0, Left: 50 * time.Millisecond})
				if err != nil {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*100*time.Microsecond)
				if p.Wait(ctx) == nil {
					if now := running.Add(1); now > slots {
						t.Errorf("%d run", now)
					}
					answered.Add(1)
					running.Add(-1)
				}
				cancel()
				p.Leave()
			}
		})
	}
	all.Wait()
	if s := g.State(); s != (State{Slots: slots}) || answered.Load() == 0 {
		t.Errorf("%+v, %d answered", s, answered.Load())
	}
}
