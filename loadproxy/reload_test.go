package loadproxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/schema/pb"
)

// TestACopyTakesThePlace: the slave registers with the copy's position, applies what
// follows it and nothing twice, and serves nothing before it has caught up.
func TestACopyTakesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(9)
		p := run(t, s, b)
		time.Sleep(time.Second)
		s.mu.Lock()
		s.stuck = fault.Newf(fault.Unavailable, "store", "not now") // it stays damaged
		s.copied = func() {
			s.keys, s.position, s.slices = upTo(5), &pb.Position{Epoch: 1, Clock: 5}, twoSlices()
		}
		s.mu.Unlock()
		s.damage(barrels.Damage{Lo: 1, Hi: 2, What: "a bad block"})
		time.Sleep(time.Second)
		before := len(b.registrations())
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		regs := b.registrations()
		if len(regs) != before+1 || regs[before].GetPosition().GetClock() != 5 || len(regs[before].GetSlices().GetSlices()) != 2 {
			t.Fatalf("registered with %v", regs[before:])
		}
		if got := s.applied(); len(got) != 9 || got[8] != 9 {
			t.Fatalf("applied %v", got)
		}
		if !s.serving() || p.Lacking() != "" {
			t.Fatalf("serving %v, lacking %q", s.serving(), p.Lacking())
		}
		n := 0
		for i, yes := range s.caughtUp[1:] {
			if !yes && s.caughtUp[i] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("it was taken out of service %d times: %v", n, s.caughtUp)
		}
	})
}

// TestReloadEndsWithItsContext, also when the proxy does not run.
func TestReloadEndsWithItsContext(t *testing.T) {
	p, err := New(Default("slave-0", "a:1"), newStore(), newBalancer(0), quietLog())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := p.Reload(ctx); !fault.Is(err, fault.Deadline) {
		t.Fatal(err)
	}
}
