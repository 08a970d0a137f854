package loadproxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// TestWhoseDataAreTaken tests that the balancer, the distributor and the store must agree on the
// database, unless the balancer allows the store's data to be discarded.
func TestWhoseDataAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		plans, hands, holds string
		discard, taken      bool
	}{
		"all agree":                  {"a", "a", "a", false, true},
		"nothing is held":            {"a", "a", "", false, true},
		"the distributor differs":    {"a", "b", "a", false, false},
		"both differ":                {"b", "b", "a", false, false},
		"both differ, discard":       {"b", "b", "a", true, true},
		"discard, wrong distributor": {"b", "c", "a", true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, s := newBalancer(3), newStore()
			b.database, b.hands, b.discard = c.plans, c.hands, c.discard
			b.refill = c.discard
			if c.holds != "" {
				s.position = &pb.Position{Epoch: 1, Clock: 1}
				s.slices = &pb.SliceTable{Origin: c.holds + "/advertiser", Slices: []*pb.HeldSlice{{Hi: 9}}}
			}
			p := run(t, s, b)
			time.Sleep(10 * time.Second) // after a refusal it tries again and again
			if taken := s.Position().GetClock() == 3; taken != c.taken || p.State().Refused == c.taken {
				t.Errorf("%s: at %v, refused %v", name, s.Position(), p.State().Refused)
			}
			if !c.taken && len(s.applied()) > 0 {
				t.Errorf("%s: took %v", name, s.applied())
			}
		})
	}
}

// TestAnotherHistoryKeepsWhatIsEqual tests that slices that differ become residue, and that nothing is
// served until the slave has registered with the result.
func TestAnotherHistoryKeepsWhatIsEqual(t *testing.T) {
	for most := range uint64(12) { // number of keys that are compared at a time; 0 for all
		anotherHistory(t, most)
	}
}

func anotherHistory(t *testing.T, most uint64) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newBalancer(7), newStore()
		b.verify, b.differ, b.most = true, map[uint64]bool{10 + most/2: true}, most
		s.position = &pb.Position{Epoch: 4, Clock: 9, Mark: 5}
		s.slices = &pb.SliceTable{View: 8, Timeline: "old", Slices: []*pb.HeldSlice{
			{Id: 1, Lo: 0, Hi: 9, From: 3}, {Id: 2, Lo: 10, Hi: 19, From: 3}, {Id: 3, Lo: 20, Hi: 29, State: pb.HeldState_HELD_STATE_FILLING}}}
		run(t, s, b)
		synctest.Wait()
		got := b.registrations()[1]
		want := &pb.SliceTable{Slices: []*pb.HeldSlice{{Id: 1, Lo: 0, Hi: 9},
			{Id: 2, Lo: 10, Hi: 19, State: pb.HeldState_HELD_STATE_RESIDUE}, {Id: 3, Lo: 20, Hi: 29, State: pb.HeldState_HELD_STATE_RESIDUE}}}
		if !proto.Equal(got.GetSlices(), want) || got.GetPosition().GetClock() != 7 {
			t.Errorf("registered with %v at %v", got.GetSlices(), got.GetPosition())
		}
	})
}

// TestAResetMustBeAnnounced tests that a bucket that empties the store is rejected unless the reply to
// Enlist announced it.
func TestAResetMustBeAnnounced(t *testing.T) {
	s := newStore()
	s.slices = &pb.SliceTable{Slices: []*pb.HeldSlice{{Hi: 9}}}
	p := &Proxy{store: s}
	reset := &pb.NodeData{Reset_: true, To: &pb.Position{}}
	if err := p.checkBucket(reset); !fault.Is(err, fault.Stale) {
		t.Errorf("not announced: %v", err)
	}
	p.refill = true
	if err := p.checkBucket(reset); err != nil {
		t.Errorf("announced: %v", err)
	}
}

// TestBucketsOfOtherWordsAreRefused tests that no bucket is applied with hashes of words that this
// program would hash differently, and that buckets without hashes are applied. The slave says why, and
// continues when the distributor is updated.
func TestBucketsOfOtherWordsAreRefused(t *testing.T) {
	more, err := words.ParseLanguages("cs,en,de")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"", "rules 1; unicode 15.0.0", "rules 99; x", more.Version()} {
		p := &Proxy{store: newStore()}
		for _, data := range []*pb.NodeData{
			{Items: []*pb.Item{{Group: &pb.Group{Key: 1}}}},
			{Campaigns: []*pb.Campaign{{Id: 1}, {Id: 2, Negatives: []*pb.Negative{{Id: 1}}}}},
			{Advertisers: []*pb.Advertiser{{Id: 1}, {Id: 2, Negatives: []*pb.Negative{{Id: 1}}}}},
		} {
			data.Words, data.To = version, &pb.Position{Clock: 1}
			if err := p.checkBucket(data); !fault.Is(err, fault.Version) {
				t.Errorf("words %q: %v", version, err)
			}
		}
		for _, data := range []*pb.NodeData{{}, {Deleted: []uint64{1}}, {Campaigns: []*pb.Campaign{{Id: 1}}}, {Advertisers: []*pb.Advertiser{{Id: 1}}}, {Slices: &pb.SliceTable{View: 1}}} {
			data.Words, data.To = version, &pb.Position{Clock: 1}
			if err := p.checkBucket(data); err != nil {
				t.Errorf("words %q, %v: %v", version, data, err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b, s := newBalancer(2), newStore()
		b.words = "rules 1; unicode 15.0.0"
		p := run(t, s, b)
		time.Sleep(time.Minute)
		if state := p.State(); len(s.applied()) > 0 || state.CaughtUp || !strings.Contains(state.Trouble, "update the older program") {
			t.Errorf("applied %v, %+v", s.applied(), state)
		}
		b.mu.Lock()
		b.words = words.Version()
		b.mu.Unlock()
		time.Sleep(time.Minute)
		if state := p.State(); len(s.applied()) != 2 || !state.CaughtUp || state.Trouble != "" {
			t.Errorf("applied %v, %+v", s.applied(), state)
		}
	})
}

// TestNothingIsServedBeforeItIsCompared tests that the store does not serve data that may be of another
// history, even if the comparison takes longer than the grace time. Meanwhile the balancer hears from
// the slave.
func TestNothingIsServedBeforeItIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newBalancer(7), newStore()
		b.verify, b.comparing = true, time.Minute
		s.position = &pb.Position{Epoch: 4, Clock: 9, Mark: 5}
		s.slices = &pb.SliceTable{View: 8, Slices: []*pb.HeldSlice{{Id: 1, Hi: 9, From: 3}}}
		run(t, s, b)
		time.Sleep(30 * time.Second)
		if s.serving() {
			t.Error("serves what is being compared")
		}
		if n := len(b.registrations()); n < 4 {
			t.Errorf("registered %d times within 30 s: the balancer takes it for lost", n)
		}
		time.Sleep(time.Minute)
		if !s.serving() {
			t.Error("serves nothing after the comparison")
		}
	})
}

// TestWhatIsComparedIsAnnouncedAsItIs tests that the result for the first slices is not reported before
// the store has it.
func TestWhatIsComparedIsAnnouncedAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newBalancer(7), newStore()
		b.verify, b.comparing = true, announceEvery
		s.position = &pb.Position{Epoch: 4, Clock: 9, Mark: 5}
		s.slices = &pb.SliceTable{View: 8, Slices: []*pb.HeldSlice{{Id: 1, Hi: 9, From: 3}, {Id: 2, Lo: 10, Hi: 19, From: 3}, {Id: 3, Lo: 20, Hi: 29, From: 3}}}
		want := proto.CloneOf(s.slices)
		run(t, s, b)
		time.Sleep(3*announceEvery - time.Second)
		list := b.registrations()
		if len(list) < 3 {
			t.Fatalf("registered %d times", len(list))
		}
		for i, r := range list {
			if !proto.Equal(r.GetSlices(), want) {
				t.Errorf("registration %d is with %v", i, r.GetSlices())
			}
		}
	})
}
