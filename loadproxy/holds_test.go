package loadproxy

import (
	"testing"
	"testing/synctest"
	"time"

	"adshard/schema/pb"
)

// TestCopiesHoldTheLog tests that no report or registration has a position after that of
// a copy without also having the copy's clock, until the copy is released.
func TestCopiesHoldTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		p := run(t, s, b)
		time.Sleep(1500 * time.Millisecond)
		held := func(want uint64) {
			t.Helper()
			time.Sleep(2 * time.Second)
			told := b.reported()
			if got := told[len(told)-1].GetHeld(); got != want {
				t.Errorf("the last report holds %d, want %d", got, want)
			}
		}
		held(0)
		first := p.Hold() // at 2
		b.set(func() { b.head = 5 })
		held(2)
		second := p.Hold() // at 5
		b.set(func() { b.epoch, b.head = 2, 9 })
		held(2)
		regs := b.registrations()
		if last := regs[len(regs)-1]; len(regs) < 2 || last.GetHeld() != 2 || last.GetPosition().GetClock() < 5 {
			t.Errorf("registered with %v", regs)
		}
		first()
		first() // to release it once more does nothing
		held(5)
		second()
		held(0)
		for _, r := range b.reported() {
			if r.GetHeld() > r.GetPosition().GetClock() {
				t.Errorf("holds what is not applied: %v", r)
			}
		}
	})
}

// overtaken is a store of which a copy is held, and which then advances, just before it
// returns its position.
type overtaken struct {
	*store
	hold func()
}

func (s *overtaken) Position() *pb.Position {
	if hold := s.hold; hold != nil {
		s.hold = nil
		hold()
		s.position = &pb.Position{Epoch: 1, Clock: s.position.Clock + 1}
	}
	return s.store.Position()
}

// TestNoReportOvertakesAHold tests that a hold that begins while a report or
// registration is being made is in it, unless the position in it is not later.
func TestNoReportOvertakesAHold(t *testing.T) {
	s := &overtaken{store: newStore()}
	s.position.Clock = 4
	p, err := New(Default("slave-0", "a:1"), s, newBalancer(0), quietLog())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var release func()
		hold := func() { release = p.Hold() }
		s.hold = hold
		if r := p.report(registration{}, s.Slices(), false, false); r.GetHeld() == 0 || r.GetHeld() >= r.GetPosition().GetClock() {
			t.Errorf("the report names %d and holds %d", r.GetPosition().GetClock(), r.GetHeld())
		}
		release()
		s.hold = hold
		if r := p.request(s.Slices()); r.GetHeld() == 0 || r.GetHeld() >= r.GetPosition().GetClock() {
			t.Errorf("the registration names %d and holds %d", r.GetPosition().GetClock(), r.GetHeld())
		}
		release()
	}
}
