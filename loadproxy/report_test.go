package loadproxy

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

func TestReportsEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		run(t, s, b)
		time.Sleep(3500 * time.Millisecond)
		told := b.reported()
		if len(told) != 3 {
			t.Fatalf("%d reports in 3.5 s", len(told))
		}
		for i, r := range told {
			if r.GetName() != "slave-0" || r.GetEpoch() != 1 || r.GetPosition().GetClock() != 2 || !r.GetState().GetServing() {
				t.Errorf("report %d: %v", i, r)
			}
			if r.GetSlices() != nil {
				t.Errorf("report %d brings a table that has not changed", i)
			}
			if r.GetLoad().GetNumber() != uint64(i+1) || r.GetLoad().GetQueries() != uint64(i+1) {
				t.Errorf("report %d: load %v", i, r.GetLoad())
			}
		}
	})
}

// TestATableIsAcknowledgedAtOnce tests that a table is acknowledged at once, without its map
// of shards, and again until the balancer has it.
func TestATableIsAcknowledgedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		run(t, s, b)
		synctest.Wait()
		table := &pb.SliceTable{View: 7, Least: 3, Origin: "x", Slices: []*pb.HeldSlice{{Id: 5, Hi: 9}},
			Shards: []*pb.Shard{{Name: "a"}}}
		b.set(func() { b.head, b.slices = 3, table })
		synctest.Wait()
		told := b.reported()
		if len(told) != 1 || told[0].GetSlices().GetView() != 7 || told[0].GetSlices().GetLeast() != 3 ||
			len(told[0].GetSlices().GetSlices()) != 1 || len(told[0].GetSlices().GetShards()) != 0 || told[0].GetLoad() != nil {
			t.Fatalf("told %v", told)
		}
		b.set(func() { b.away, b.head, b.slices = true, 4, &pb.SliceTable{View: 8} })
		time.Sleep(1500 * time.Millisecond)
		b.set(func() { b.away = false })
		time.Sleep(2 * time.Second)
		told = b.reported()
		if s.Slices().GetView() != 8 || told[len(told)-1].GetPosition().GetClock() != 4 {
			t.Fatalf("at %v, told %v", s.Slices(), told)
		}
		if i := slices.IndexFunc(told, func(r *pb.ReportRequest) bool { return r.GetSlices().GetView() == 8 }); i < 0 {
			regs := b.registrations()
			if regs[len(regs)-1].GetSlices().GetView() != 8 {
				t.Fatalf("view 8 was never told: %v", told)
			}
		}
	})
}

func TestGoesWhereTheBalancerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		run(t, s, b)
		synctest.Wait()
		b.set(func() { b.home = "d1:1" })
		time.Sleep(1500 * time.Millisecond)
		b.set(func() { b.head = 4 })
		synctest.Wait()
		if want := []string{"", "d1:1"}; !slices.Equal(b.enlisted, want) || !slices.Equal(s.applied(), upTo(4)) {
			t.Fatalf("enlisted at %q, applied %v", b.enlisted, s.applied())
		}
		if !s.serving() {
			t.Fatal("out of service")
		}
	})
}

// TestADistributorThatIsAway tests that the slave asks the balancer for another distributor.
func TestADistributorThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.home = "d1:1"
		run(t, s, b)
		synctest.Wait()
		b.set(func() { b.homeless = true })
		time.Sleep(5 * time.Second)
		if n := len(b.registrations()); n < 2 {
			t.Fatalf("%d registrations", n)
		}
		b.set(func() { b.homeless, b.home, b.head = false, "d2:1", 5 })
		time.Sleep(3 * time.Second)
		if !slices.Equal(s.applied(), upTo(5)) || b.enlisted[len(b.enlisted)-1] != "d2:1" {
			t.Fatalf("enlisted at %q, applied %v", b.enlisted, s.applied())
		}
	})
}

// TestADistributorGoesOnWithoutABalancer tests that a distributor serves a slave without a
// balancer, even a slave that had lost the distributor.
func TestADistributorGoesOnWithoutABalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.home = "d1:1"
		run(t, s, b)
		synctest.Wait()
		b.set(func() { b.away, b.homeless = true, true })
		time.Sleep(5 * time.Second)
		b.set(func() { b.homeless, b.head = false, 6 })
		time.Sleep(3 * time.Second)
		if !slices.Equal(s.applied(), upTo(6)) || !s.serving() {
			t.Fatalf("applied %v, serving %v", s.applied(), s.serving())
		}
	})
}

// TestServesWithoutADistributorAfterTheGraceTime tests that a slave that has a balancer but no
// distributor serves its data after the grace time.
func TestServesWithoutADistributorAfterTheGraceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		s.slices, b.homeless = held(pb.HeldState_HELD_STATE_FULL), true
		run(t, s, b)
		time.Sleep(3 * time.Second)
		if !s.serving() {
			t.Fatal("not serving")
		}
	})
}

// TestTheLaterOfTwoSlavesIsRefused tests that the later one of two slaves with the same name
// is refused and does not serve.
func TestTheLaterOfTwoSlavesIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.refuse = fault.Newf(fault.Conflict, "balancer: register", "two slaves have the name slave-0")
		p := run(t, s, b)
		time.Sleep(10 * time.Second)
		if s.serving() || !p.State().Refused {
			t.Fatalf("serving %v, %+v", s.serving(), p.State())
		}
	})
}

// TestATableThatChangesWhileAnotherIsReported tests that such a table is reported too.
func TestATableThatChangesWhileAnotherIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		run(t, s, b)
		synctest.Wait()
		b.set(func() { b.slow, b.head, b.slices = 100*time.Millisecond, 3, &pb.SliceTable{View: 7} })
		synctest.Wait()
		b.set(func() { b.head, b.slices = 4, &pb.SliceTable{View: 8} })
		time.Sleep(500 * time.Millisecond)
		told := b.reported()
		if len(told) != 2 || told[0].GetSlices().GetView() != 7 || told[1].GetSlices().GetView() != 8 {
			t.Fatalf("told %v", told)
		}
	})
}
