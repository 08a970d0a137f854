package loadproxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adshard/schema/pb"
)

// crashed returns a store that was not closed.
func crashed() *store {
	s := newStore()
	s.unclean = true
	return s
}

// TestAStoreThatWasNotClosedIsComparedBeforeItServes tests that the slave waits if the comparison is
// quick, that progress is reported, and that the result is saved.
func TestAStoreThatWasNotClosedIsComparedBeforeItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := crashed(), newBalancer(3)
		b.recheck = &pb.Recheck{Slices: 6}
		p := run(t, s, b)
		for compared := range uint32(6) {
			b.set(func() { b.recheck.Compared = compared })
			time.Sleep(800 * time.Millisecond)
			synctest.Wait() // everything that wakes at the same moment has run
			if s.serving() {
				t.Fatalf("serves with %d of 6 slices compared", compared)
			}
			if lacking := p.State().WhyIncomplete; !strings.Contains(lacking, "6 slices are compared") {
				t.Errorf("it says %q", lacking)
			}
		}
		b.set(func() { b.recheck.Compared = 6 })
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if !s.serving() || s.Unverified() || p.State().Recheck != "" {
			t.Errorf("serving %v, unverified %v, %+v", s.serving(), s.Unverified(), p.State())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if last := b.lastReport(); last.GetUnverified() {
			t.Errorf("it still reports %v", last)
		}
	})
}

// TestALargeStoreServesWhileItIsCompared tests that the slave serves once a slice has taken a second, or
// all of them ten.
func TestALargeStoreServesWhileItIsCompared(t *testing.T) {
	for name, each := range map[string]time.Duration{"slow slices": 1500 * time.Millisecond, "many slices": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := crashed(), newBalancer(3)
				b.recheck = &pb.Recheck{Slices: 1000}
				p := run(t, s, b)
				begun := time.Now()
				for !s.serving() && time.Since(begun) < time.Minute {
					time.Sleep(each)
					b.set(func() { b.recheck.Compared++ })
				}
				if took := time.Since(begun); took > recheckMost+time.Second || took < recheckSlice {
					t.Errorf("it served after %v", took)
				}
				if text := p.State().Recheck; !s.Unverified() || !strings.Contains(text, "of 1000 slices") {
					t.Errorf("unverified %v, it says %q", s.Unverified(), text)
				}
				b.set(func() { b.recheck.Compared = 1000 })
				time.Sleep(5 * time.Second)
				if s.Unverified() || p.State().Recheck != "" {
					t.Errorf("unverified %v, %+v", s.Unverified(), p.State())
				}
			})
		})
	}
}

// TestNobodyComparesAStoreThatWasNotClosed tests that the slave serves at once if the balancer compares
// nothing, and that the store remains unverified.
func TestNobodyComparesAStoreThatWasNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := crashed(), newBalancer(3)
		run(t, s, b)
		time.Sleep(100 * time.Millisecond)
		if !s.serving() || !s.Unverified() {
			t.Errorf("serving %v, unverified %v", s.serving(), s.Unverified())
		}
	})
}

// TestWhoComparesIsGone tests that the slave waits no longer for a dead balancer than for a slow one.
func TestWhoComparesIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := crashed(), newBalancer(3)
		b.recheck = &pb.Recheck{Slices: 6}
		run(t, s, b)
		time.Sleep(300 * time.Millisecond)
		b.set(func() { b.away, b.homeless = true, true })
		time.Sleep(recheckMost)
		if !s.serving() || !s.Unverified() {
			t.Errorf("serving %v, unverified %v", s.serving(), s.Unverified())
		}
	})
}

func (b *fakeBalancer) lastReport() *pb.ReportRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reports[len(b.reports)-1]
}
