package loadproxy

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/schema/pb"
)

// twoSlices returns a table of two slices that are served.
func twoSlices() *pb.SliceTable {
	return &pb.SliceTable{View: 1, Slices: []*pb.HeldSlice{
		{Id: 7, Lo: 0, Hi: 99, Generation: 1, From: 1}, {Id: 8, Lo: 100, Hi: ^uint64(0), Generation: 1, From: 1},
	}}
}

// TestAStoreThatCannotBeWrittenIsMadeAnew tests that such a store is recreated and
// filled from nothing: at once the first time, and after growing pauses if that does
// not help. The slave says so until the store is complete again.
func TestAStoreThatCannotBeWrittenIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		bad := fault.Newf(fault.Corrupt, "store", "bad block")
		s.fail = []error{nil, nil, bad}
		b.slices = twoSlices()
		p := run(t, s, b)
		time.Sleep(time.Second)
		if _, renewed := s.repaired(); !slices.Equal(s.applied(), upTo(3)) || renewed != 1 {
			t.Fatalf("applied %v after it was recreated %d times", s.applied(), renewed)
		}
		if r := b.registrations()[1]; r.Position.GetClock() != 0 {
			t.Fatalf("registered with %v", r)
		}
		if why := p.WhyIncomplete(); !strings.Contains(why, "the whole store") || !strings.Contains(why, "bad block") {
			t.Fatalf("lacking: %q", why)
		}
		b.set(func() { b.head, b.slices = 4, twoSlices() })
		time.Sleep(time.Second)
		if p.WhyIncomplete() != "" || p.State().Repairs != 1 {
			t.Fatalf("%+v", p.State())
		}
		s.mu.Lock()
		for range 100 {
			s.fail = append(s.fail, bad)
		}
		s.mu.Unlock()
		b.set(func() { b.head = 5 })
		time.Sleep(time.Minute)
		if _, n := s.repaired(); n < 4 || n > 7 { // after 0, 2, 6, 14, 30 and 62 s
			t.Fatalf("recreated %d times in a minute", n)
		}
	})
}

// TestDamageIsGivenUpAndFilledAgain tests that slices that may be damaged are no longer
// served, and that the slave registers with the others. It says which slices are
// missing, why and since when, until they are there again.
func TestDamageIsGivenUpAndFilledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.slices = twoSlices()
		p := run(t, s, b)
		time.Sleep(3 * time.Second)
		if p.WhyIncomplete() != "" {
			t.Fatalf("lacking: %q", p.WhyIncomplete())
		}
		for range 5 { // as if many searches met it
			s.damage(barrels.Damage{Lo: 5, Hi: 6, What: "a bad block"})
		}
		if p.WhyIncomplete() == "" {
			t.Error("nothing is lacking, as it says, before the slice is given up")
		}
		time.Sleep(100 * time.Millisecond)
		if discarded, _ := s.repaired(); discarded != 1 || len(s.Slices().Slices) != 1 {
			t.Fatalf("discarded %d, the table is %v", discarded, s.Slices())
		}
		if last := b.registrations()[len(b.registrations())-1]; len(last.Slices.Slices) != 1 || last.Slices.Slices[0].Id != 8 {
			t.Fatalf("registered with %v", last)
		}
		time.Sleep(time.Second)
		told := b.reported()[len(b.reported())-1].GetState().GetLacking()
		for _, text := range []string{p.WhyIncomplete(), told} {
			if !strings.Contains(text, "slice 7 has not been served since 20") || !strings.Contains(text, "a bad block") {
				t.Errorf("it says %q", text)
			}
		}
		b.set(func() { b.head, b.slices = 3, twoSlices() })
		time.Sleep(2 * time.Second)
		if p.WhyIncomplete() != "" || b.reported()[len(b.reported())-1].GetState().GetLacking() != "" {
			t.Fatalf("lacking: %q", p.WhyIncomplete())
		}
		s.damage(barrels.Damage{Lo: 9, Hi: 9, What: "a bad block"}) // filling it again has not helped
		time.Sleep(100 * time.Millisecond)
		if discarded, renewed := s.repaired(); renewed != 1 || discarded != 1 {
			t.Fatalf("recreated %d times, discarded %d", renewed, discarded)
		}
	})
}

// TestWhatCannotBeRemovedIsMadeAnew tests that the store is recreated if a slice cannot
// be removed because that requires reading damaged data.
func TestWhatCannotBeRemovedIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		s.stuck = fault.Newf(fault.Corrupt, "store", "bad block")
		b.slices = twoSlices()
		p := run(t, s, b)
		time.Sleep(3 * time.Second)
		p.Discard(0, 99, "it differs")
		time.Sleep(time.Second)
		if _, renewed := s.repaired(); renewed != 1 || !slices.Equal(s.applied(), upTo(2)) {
			t.Fatalf("recreated %d times, applied %v", renewed, s.applied())
		}
	})
}

// TestDamageInMemoryIsCounted tests that damage in memory is counted, and that no slice
// is discarded for it.
func TestDamageInMemoryIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.slices = twoSlices()
		p := run(t, s, b)
		time.Sleep(3 * time.Second)
		s.damage(barrels.Damage{Lo: 5, Hi: 6, Memory: true, What: "a block"})
		time.Sleep(time.Second)
		discarded, _ := s.repaired()
		if st := p.State(); st.Memory != 1 || st.Repairs != 0 || st.WhyIncomplete != "" || discarded != 0 {
			t.Fatalf("%+v", st)
		}
	})
}

// TestASliceThatIsWantedNoMoreIsNotLacking tests that a discarded slice is no longer
// reported as missing if it is not assigned again: it may have moved away.
func TestASliceThatIsWantedNoMoreIsNotLacking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(2)
		b.slices = twoSlices()
		p := run(t, s, b)
		time.Sleep(3 * time.Second)
		p.Discard(0, 99, "it differs")
		time.Sleep(5 * time.Second)
		if p.WhyIncomplete() == "" {
			t.Fatal("nothing is lacking, as it says")
		}
		time.Sleep(10 * time.Second)
		if p.WhyIncomplete() != "" {
			t.Fatalf("lacking: %q", p.WhyIncomplete())
		}
	})
}
