package loadproxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/schema/pb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run starts a proxy in a synctest bubble, and stops it at the end of the test.
func run(t *testing.T, s *store, b *fakeBalancer) *Proxy {
	t.Helper()
	return runWith(t, Default("slave-0", "127.0.0.1:1"), s, b)
}

func runWith(t *testing.T, cfg Config, s *store, b *fakeBalancer) *Proxy {
	t.Helper()
	p, err := New(cfg, s, b, quietLog())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return p
}

func upTo(n uint64) (keys []uint64) {
	for k := range n {
		keys = append(keys, k+1)
	}
	return keys
}

func TestFollowsTheBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(5)
		p := run(t, s, b)
		synctest.Wait()
		if got := s.applied(); !slices.Equal(got, upTo(5)) {
			t.Fatalf("applied %v", got)
		}
		b.set(func() { b.head = 8 })
		synctest.Wait()
		if got := s.applied(); !slices.Equal(got, upTo(8)) {
			t.Fatalf("applied %v", got)
		}
		st := p.State()
		if !st.Registered || !st.CaughtUp || st.Trouble != "" || st.Buckets != 8 || st.Items != 8 || st.Epoch != 1 {
			t.Fatalf("%+v", st)
		}
		if r := b.registrations()[0]; r.Name != "slave-0" || r.Address != "127.0.0.1:1" {
			t.Fatalf("registered as %v", r)
		}
	})
}

func TestServesOnlyWhenCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		s.fail = []error{nil, fault.Newf(fault.Unavailable, "x", "later")}
		run(t, s, b)
		synctest.Wait()
		if s.serving() || len(s.applied()) != 1 {
			t.Fatalf("serving after %v", s.applied())
		}
		time.Sleep(time.Second)
		if !s.serving() || len(s.applied()) != 3 {
			t.Fatalf("not serving after %v", s.applied())
		}
	})
}

// held returns a table with one slice in a state.
func held(state pb.HeldState) *pb.SliceTable {
	return &pb.SliceTable{View: 1, Slices: []*pb.HeldSlice{{Id: 1, Hi: ^uint64(0), Generation: 1, State: state}}}
}

// TestNothingIsNotCaughtUp tests that a slave that is filled for the first time has not caught
// up, whatever the clock of its data is, and that a slave that finds no balancer and has no
// data does not serve.
func TestNothingIsNotCaughtUp(t *testing.T) {
	t.Run("being filled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, b := newStore(), newBalancer(3)
			b.slices = held(pb.HeldState_HELD_STATE_FILLING)
			p := run(t, s, b)
			time.Sleep(time.Minute)
			if s.serving() || p.State().CaughtUp {
				t.Fatalf("caught up with nothing: %+v", p.State())
			}
			b.set(func() { b.slices, b.head = held(pb.HeldState_HELD_STATE_FULL), 4 })
			synctest.Wait()
			if !s.serving() || !p.State().CaughtUp {
				t.Fatalf("not caught up: %+v", p.State())
			}
		})
	})
	for name, table := range map[string]*pb.SliceTable{
		"nothing, and no balancer": {}, "being filled, and no balancer": held(pb.HeldState_HELD_STATE_FILLING)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := newStore(), newBalancer(3)
				s.slices, b.away = table, true
				p := run(t, s, b)
				time.Sleep(time.Minute)
				if s.serving() || p.State().CaughtUp {
					t.Fatalf("caught up with nothing: %+v", p.State())
				}
			})
		})
	}
}

func TestServesWithoutABalancerAfterTheGraceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		s.keys, s.position = upTo(1), &pb.Position{Epoch: 1, Clock: 1}
		b.away = true
		p := run(t, s, b)
		time.Sleep(1900 * time.Millisecond)
		if s.serving() {
			t.Fatal("serving before the grace time was over")
		}
		time.Sleep(200 * time.Millisecond)
		if !s.serving() || p.State().Registered || !strings.Contains(p.State().Trouble, "nobody there") {
			t.Fatalf("serving %v, %+v", s.serving(), p.State())
		}
		// The balancer returns and names a position that the store has not reached. The store
		// must not serve until it has.
		b.set(func() { b.away = false })
		time.Sleep(2 * time.Second)
		if !s.serving() || p.State().Trouble != "" || !slices.Equal(s.applied(), upTo(3)) {
			t.Fatalf("serving %v, %+v, applied %v", s.serving(), p.State(), s.applied())
		}
		if want := []bool{false, true, false, true}; !slices.Equal(s.caughtUp, want) {
			t.Fatalf("caught up %v, want %v", s.caughtUp, want)
		}
	})
}

// TestServesNothingThatIsOfNoUse tests that useless data are not served, even if they were
// caught up with an earlier balancer, and whatever their clock is.
func TestServesNothingThatIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		run(t, s, b)
		time.Sleep(time.Second)
		if !s.serving() {
			t.Fatal("not serving")
		}
		b.set(func() { b.epoch, b.refill, b.head = 2, true, 2 })
		time.Sleep(15 * time.Second)
		if s.serving() {
			t.Fatal("serves what is to be given up")
		}
		s.mu.Lock()
		s.position = &pb.Position{} // the fake balancer resets stores at position 0
		s.mu.Unlock()
		b.set(func() { b.epoch = 3 })
		time.Sleep(15 * time.Second)
		if !s.serving() || !slices.Equal(s.applied(), upTo(2)) {
			t.Fatalf("serving %v after the refill, applied %v", s.serving(), s.applied())
		}
	})
}

// TestTheClockAloneDecides tests that slices that are being filled do not keep the slave from
// serving: when they arrive, nothing goes out of service.
func TestTheClockAloneDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		s.position = &pb.Position{Epoch: 1, Clock: 3, Offset: 77}
		run(t, s, b)
		synctest.Wait()
		if !s.serving() {
			t.Fatalf("not caught up at %v", s.Position())
		}
	})
}

// TestARefusedSlaveDoesNotServe tests that a slave does not serve while the balancer says that
// its data are not of the balancer's database.
func TestARefusedSlaveDoesNotServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		b.refuse = fault.Newf(fault.Conflict, "balancer: register", "data of epoch 4, this is 2")
		p := run(t, s, b)
		time.Sleep(time.Minute)
		if s.serving() || !strings.Contains(p.State().Trouble, "epoch 4") {
			t.Fatalf("serving %v, %+v", s.serving(), p.State())
		}
		b.set(func() { b.refuse = nil })
		time.Sleep(10 * time.Second)
		if !s.serving() || !slices.Equal(s.applied(), upTo(3)) {
			t.Fatalf("serving %v, applied %v", s.serving(), s.applied())
		}
	})
}

func TestGoesOnServingWhileTheBalancerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		p := run(t, s, b)
		synctest.Wait()
		b.set(func() { b.away = true })
		time.Sleep(time.Minute)
		if !s.serving() {
			t.Fatal("stopped serving")
		}
		// A new balancer comes with a new epoch and newer data. The slave registers again, and
		// is never out of service.
		b.set(func() { b.away, b.epoch, b.head = false, 2, 9 })
		time.Sleep(3 * time.Second)
		if want := []bool{false, true}; !slices.Equal(s.caughtUp, want) {
			t.Fatalf("caught up %v, want %v", s.caughtUp, want)
		}
		if len(b.registrations()) != 2 || p.State().Epoch != 2 || !slices.Equal(s.applied(), upTo(9)) {
			t.Fatalf("%d registrations, %+v, applied %v", len(b.registrations()), p.State(), s.applied())
		}
	})
}

func TestAFullDiskIsToldAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		full := fault.Newf(fault.NoSpace, "rocks: apply", "no space left")
		for range 20 { // in the end it tries every 200 ms
			s.fail = append(s.fail, full)
		}
		p := run(t, s, b)
		time.Sleep(1100 * time.Millisecond)
		if !strings.Contains(p.State().Trouble, "no space left") {
			t.Fatalf("trouble %q", p.State().Trouble)
		}
		told := b.reported()[0].GetState().GetTrouble()
		if !strings.Contains(told, "no space left") {
			t.Fatalf("the balancer was told %q", told)
		}
		if kind := b.reported()[0].GetState().GetTroubleKind(); fault.Kind(kind) != fault.NoSpace {
			t.Fatalf("the balancer was told the kind %d", kind)
		}
		time.Sleep(10 * time.Second)
		if got := s.applied(); !slices.Equal(got, upTo(2)) || p.State().Trouble != "" {
			t.Fatalf("applied %v, trouble %q", got, p.State().Trouble)
		}
	})
}

func TestAStaleBucketMeansRegisteringAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		s.fail = []error{nil, fault.Newf(fault.Stale, "store", "begins elsewhere")}
		run(t, s, b)
		time.Sleep(time.Second)
		if len(b.registrations()) != 2 || !slices.Equal(s.applied(), upTo(2)) {
			t.Fatalf("%d registrations, applied %v", len(b.registrations()), s.applied())
		}
	})
}

// TestExactlyOnce loses answers, makes the store fail, and restarts the balancer.
func TestExactlyOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			s, b := newStore(), newBalancer(rapid.Uint64Range(1, 10).Draw(rt, "head"))
			for range rapid.IntRange(0, 5).Draw(rt, "failures") {
				s.fail = append(s.fail, rapid.SampledFrom([]error{nil, nil,
					fault.Newf(fault.NoSpace, "s", "full"), fault.Newf(fault.Stale, "s", "stale"),
					errors.New("unknown")}).Draw(rt, "failure"))
			}
			b.lose = rapid.IntRange(0, 3).Draw(rt, "lost")
			run(t, s, b)
			for range rapid.IntRange(0, 4).Draw(rt, "steps") {
				time.Sleep(time.Duration(rapid.IntRange(0, 300).Draw(rt, "ms")) * time.Millisecond)
				b.set(func() {
					b.head += rapid.Uint64Range(0, 3).Draw(rt, "more")
					b.epoch += rapid.Uint64Range(0, 1).Draw(rt, "restart")
					b.away = rapid.Bool().Draw(rt, "away")
				})
			}
			b.set(func() { b.away = false })
			time.Sleep(time.Minute)
			if got := s.applied(); !slices.Equal(got, upTo(b.newest())) {
				rt.Fatalf("applied %v, want up to %d", got, b.head)
			}
			if !s.serving() {
				rt.Fatal("not serving")
			}
		})
	})
}

func TestConfigListsAllFaults(t *testing.T) {
	c := Default("", "")
	c.Wait = 0
	err := c.Validate()
	for _, want := range []string{"name", "address", "wait"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := New(c, newStore(), newBalancer(0), quietLog()); !fault.Is(err, fault.Invalid) {
		t.Errorf("New: %v", err)
	}
}
