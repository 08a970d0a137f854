package backendtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

func feedClauses() []clause {
	return []clause{
		{"changes come by rising clock, in pieces", testPieces},
		{"versions are clocks of the log", testVersions},
		{"the clock only grows, also past compaction and reopening", testClockGrows},
		{"compaction keeps what readers hold", testHold},
		{"compaction under a condition", testCompactIf},
		{"readers without a recent hold keep nothing", testIdleReaders},
		{"compacted positions are stale", testStale},
		{"wait returns on a commit of this process", testWait},
		{"wait returns on a commit of another", testWaitOther},
		{"wait ends with its context", testWaitContext},
	}
}

func clockOf(t testing.TB, s backend.Store) uint64 {
	t.Helper()
	p, err := s.Newest(t.Context())
	check(t, err)
	return p.Clock
}

// at is a position with an unknown mark.
func at(clock uint64) backend.Position { return backend.Position{Clock: clock} }

// logged is a change, made after sample and a group H, with the entries that it adds to the log.
type logged struct {
	name string
	do   func(w writer)
	want string
}

func loggedChanges() []logged {
	const group, campaign, advertiser = "3:1", "2:1", "1:1"
	return []logged{
		{"keyword", func(w writer) { w.words(1, "new") }, group},
		{"keyword's bid", func(w writer) {
			k := broad("hdmi")
			k.Bid = backend.To[uint64](9)
			w.keyword(1, k)
		}, group},
		{"keyword removed", func(w writer) {
			k := broad("hdmi")
			k.Status = backend.Remove
			w.keyword(1, k)
		}, group},
		{"group's negative", func(w writer) { w.negative(backend.NegativeOwner{Group: 1}, "new", backend.Keep) }, group},
		{"ad", func(w writer) { w.ad(1, "Cables", backend.Pause) }, group},
		{"ad removed", func(w writer) { w.ad(1, "Cables", backend.Remove) }, group},
		{"group's bid", func(w writer) { w.group(1, "G", backend.GroupPatch{Bid: backend.To[uint64](1)}) }, group},
		{"campaign's negative", func(w writer) { w.negative(backend.NegativeOwner{Campaign: 1}, "new", backend.Keep) }, campaign},
		{"campaign's negative removed", func(w writer) { w.negative(backend.NegativeOwner{Campaign: 1}, "free", backend.Remove) }, campaign},
		{"advertiser's negative", func(w writer) { w.negative(backend.NegativeOwner{Advertiser: 1}, "new", backend.Keep) }, advertiser},
		{"advertiser's negative removed", func(w writer) { w.negative(backend.NegativeOwner{Advertiser: 1}, "never", backend.Remove) }, advertiser},
		{"advertiser's negative paused", func(w writer) { w.negative(backend.NegativeOwner{Advertiser: 1}, "never", backend.Pause) }, advertiser},
		{"campaign's status", func(w writer) { w.campaign(1, "C", backend.CampaignPatch{Status: backend.Pause}) }, campaign},
		{"campaign's modifier", func(w writer) {
			w.campaign(1, "C", backend.CampaignPatch{Modifiers: [search.Devices]backend.Patch[uint16]{backend.To[uint16](1)}})
		}, campaign},
		{"delivery method", func(w writer) {
			w.campaign(1, "C", backend.CampaignPatch{StandardDelivery: backend.To(false)})
		}, campaign},
		{"time zone", func(w writer) {
			w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{TimeZone: backend.To("Asia/Tokyo")}))
		}, advertiser},
		{"languages", func(w writer) {
			w.campaign(1, "C", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
		}, campaign + " " + group + " 3:2"},
		{"advertiser", func(w writer) { w.must(w.UpdateAdvertiser(w.ctx, 1, backend.AdvertiserPatch{Status: backend.Pause})) }, advertiser},
		{"group removed", func(w writer) { w.group(1, "G", backend.GroupPatch{Status: backend.Remove}) }, group + "-"},
	}
}

func testLog(t *testing.T, f Factory) {
	for _, c := range loggedChanges() {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, f)
			writes(t, s, func(w writer) {
				sample(w)
				w.path("H")
			})
			clock := clockOf(t, s)
			writes(t, s, c.do)
			got := ""
			changes, err := s.Changes(t.Context(), at(clock), 100)
			check(t, err)
			for _, ch := range changes {
				if ch.Kind != backend.KindAdvertiser && ch.AdvertiserID != 1 || ch.Kind == backend.KindGroup && ch.CampaignID != 1 {
					t.Errorf("owners of %+v", ch)
				}
				got += fmt.Sprintf(" %d:%d", ch.Kind, ch.ID)
				if ch.Removed {
					got += "-"
				}
			}
			if got != " "+c.want {
				t.Errorf("logged%s, want %s", got, c.want)
			}
		})
	}
}

func testPieces(t *testing.T, f Factory) {
	s := open(t, f)
	for i := range 5 {
		writes(t, s, func(w writer) {
			w.path(fmt.Sprint("G", i))
			w.path(fmt.Sprint("H", i))
		})
	}
	all, err := s.Changes(t.Context(), at(0), 1000)
	check(t, err)
	if len(all) < 12 || all[len(all)-1].Clock != clockOf(t, s) {
		t.Fatalf("%v at clock %d", all, clockOf(t, s))
	}
	var pieces []backend.Change
	after := uint64(0)
	for {
		part, err := s.Changes(t.Context(), at(after), 3)
		check(t, err)
		if len(part) == 0 {
			break
		}
		if len(part) > 3 || part[0].Clock <= after {
			t.Fatalf("after %d: %v", after, part)
		}
		pieces = append(pieces, part...)
		after = part[len(part)-1].Clock
	}
	if fmt.Sprint(pieces) != fmt.Sprint(all) {
		t.Errorf("got %v\nwant %v", pieces, all)
	}
	if none, err := s.Changes(t.Context(), at(1<<63), 3); err != nil || len(none) > 0 {
		t.Errorf("after the end: %v, %v", none, err)
	}
}

func testVersions(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	writes(t, s, func(w writer) {
		w.words(1, "new")
		w.path("H")
	})
	checkVersions(t, s)
	before := ReadNow(t, s)
	_, err := s.Compact(t.Context(), clockOf(t, s), 0)
	check(t, err)
	after := ReadNow(t, s)
	if a, b := before.Items[1].Group.Version, after.Items[1].Group.Version; a != b {
		t.Errorf("compaction made version %d of %d", b, a)
	}
}

// checkVersions compares versions with the newest entry of each entity.
func checkVersions(t testing.TB, s backend.Store) {
	t.Helper()
	changes, err := s.Changes(t.Context(), at(0), 1<<30)
	check(t, err)
	last := map[string]uint64{}
	for _, c := range changes {
		last[fmt.Sprint(c.Kind, ":", c.ID)] = c.Clock
	}
	n := ReadNow(t, s)
	for _, a := range n.Advertisers {
		if want := last[fmt.Sprint(backend.KindAdvertiser, ":", a.ID)]; a.Version != want {
			t.Errorf("advertiser %d has version %d, want %d", a.ID, a.Version, want)
		}
	}
	for _, c := range n.Campaigns {
		if want := last[fmt.Sprint(backend.KindCampaign, ":", c.ID)]; c.Version != want {
			t.Errorf("campaign %d has version %d, want %d", c.ID, c.Version, want)
		}
	}
	for _, it := range n.Items {
		if want := last[fmt.Sprint(backend.KindGroup, ":", it.Group.ID)]; it.Group.Version != want {
			t.Errorf("group %d has version %d, want %d", it.Group.ID, it.Group.Version, want)
		}
	}
}

func testClockGrows(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	if c := clockOf(t, s); c != 0 {
		t.Errorf("the clock of an empty database is %d", c)
	}
	writes(t, s, sample)
	clock := clockOf(t, s)
	changes, err := s.Changes(t.Context(), at(0), 1000)
	check(t, err)
	if n, err := s.Compact(t.Context(), clock+100, 0); err != nil || n != len(changes) {
		t.Errorf("compacted %d of %d, %v", n, len(changes), err)
	}
	if c := clockOf(t, s); c != clock {
		t.Errorf("compaction moved the clock from %d to %d", clock, c)
	}
	closing(t, s)
	s = openAt(t, p)
	if c := clockOf(t, s); c != clock {
		t.Errorf("reopening moved the clock from %d to %d", clock, c)
	}
	writes(t, s, func(w writer) { w.words(1, "new") })
	changes, err = s.Changes(t.Context(), at(clock), 10)
	if err != nil || len(changes) != 1 || changes[0].Clock != clock+1 {
		t.Errorf("after clock %d: %v, %v", clock, changes, err)
	}
}

func testHold(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	for i := range 6 {
		writes(t, s, func(w writer) { w.path(fmt.Sprint("G", i)) })
	}
	end := clockOf(t, s) // 8: advertiser, campaign, 6 groups
	check(t, s.Hold(ctx, "far", end-1))
	check(t, s.Hold(ctx, "near", 2))
	check(t, s.Hold(ctx, "near", 3))
	for _, step := range []struct {
		upTo uint64
		want int
	}{{2, 2}, {end, 1}, {end, 0}} {
		if n, err := s.Compact(ctx, step.upTo, 0); err != nil || n != step.want {
			t.Errorf("compacting to %d removed %d, want %d; %v", step.upTo, n, step.want, err)
		}
	}
	if c, err := s.Changes(ctx, at(3), 100); err != nil || len(c) != int(end)-3 {
		t.Errorf("%v, %v", c, err)
	}
	check(t, s.Release(ctx, "near"))
	check(t, s.Release(ctx, "unknown"))
	if n, err := s.Compact(ctx, end, 0); err != nil || n != int(end)-4 {
		t.Errorf("removed %d, %v", n, err)
	}
	check(t, s.Release(ctx, "far"))
	if n, err := s.Compact(ctx, end, 0); err != nil || n != 1 {
		t.Errorf("removed %d, %v", n, err)
	}
}

func testCompactIf(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	writes(t, s, sample)
	end := clockOf(t, s)
	check(t, s.Hold(ctx, "other", end-1))
	check(t, s.SaveControl(ctx, "epoch", []byte("2")))
	for _, was := range [][]byte{nil, {}, []byte("1")} {
		if n, err := s.CompactIf(ctx, "r", 1, 0, "epoch", was); n != 0 || !fault.Is(err, fault.Conflict) {
			t.Errorf("with the guard %q: removed %d, %v", was, n, err)
		}
	}
	if n, err := s.Compact(ctx, end-2, 0); err != nil || n != int(end)-2 {
		t.Errorf("a refused hold counts: removed %d, %v", n, err)
	}
	if n, err := s.CompactIf(ctx, "r", end, 0, "epoch", []byte("2")); err != nil || n != 1 {
		t.Errorf("beside another reader: removed %d, %v", n, err)
	}
	check(t, s.Release(ctx, "other"))
	check(t, s.Hold(ctx, "r", end-1))
	if n, err := s.Compact(ctx, end, 0); err != nil || n != 0 {
		t.Errorf("removed %d, %v", n, err)
	}
	if n, err := s.CompactIf(ctx, "r", end, 0, "epoch", []byte("2")); err != nil || n != 1 {
		t.Errorf("its own reader: removed %d, %v", n, err)
	}
	if n, err := s.CompactIf(ctx, "new", 1, 0, "missing", nil); err != nil || n != 0 {
		t.Errorf("a guard that is to be missing: removed %d, %v", n, err)
	}
}

func testIdleReaders(t *testing.T, f Factory) {
	s := open(t, f)
	ctx := t.Context()
	writes(t, s, sample)
	end := clockOf(t, s)
	check(t, s.Hold(ctx, "busy", 2))
	check(t, s.Hold(ctx, "idle", 1))
	held := time.Now()
	compact := func(idle time.Duration, want int) {
		t.Helper()
		if n, err := s.Compact(ctx, end, idle); err != nil || n != want {
			t.Errorf("compacting without those idle for %v removed %d, want %d; %v", idle, n, want, err)
		}
	}
	compact(0, 1)
	compact(time.Hour, 0)
	time.Sleep(time.Second)
	check(t, s.Hold(ctx, "busy", 2)) // registering the same clock again shows that the reader is alive
	compact(time.Since(held), 1)     // its last Hold was more than a second ago
}

func testStale(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	end := clockOf(t, s)
	_, err := s.Compact(t.Context(), end-1, 0)
	check(t, err)
	for after := range end + 1 {
		_, err := s.Changes(t.Context(), at(after), 10)
		if stale := after < end-1; fault.Is(err, fault.Stale) != stale || !stale && err != nil {
			t.Errorf("after %d: %v", after, err)
		}
	}
}

func ended(t *testing.T, done <-chan error, within time.Duration) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(within):
		t.Fatalf("still waiting after %v", within)
		return nil
	}
}

func testWait(t *testing.T, f Factory)      { waits(t, f, false) }
func testWaitOther(t *testing.T, f Factory) { waits(t, f, true) }

func waits(t *testing.T, f Factory, other bool) {
	p := f(t)
	s := openAt(t, p)
	commits := s
	if other {
		commits = openAt(t, p)
	}
	for i := range 3 {
		at, err := s.Newest(t.Context())
		check(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Wait(t.Context(), at) }()
		writes(t, commits, func(w writer) { w.path(fmt.Sprint("G", i)) })
		if err := ended(t, done, time.Minute); err != nil {
			t.Error(err)
		}
		if clockOf(t, s) <= at.Clock {
			t.Error("it returned with nothing new")
		}
	}
	// Another history is news, too, whatever its clock.
	check(t, s.Wait(t.Context(), backend.Position{Clock: 1 << 40}))
	at, err := s.Newest(t.Context())
	check(t, err)
	check(t, s.Wait(t.Context(), backend.Position{Clock: at.Clock, Mark: at.Mark ^ 1}))
}

func testWaitContext(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	at, err := s.Newest(ctx)
	check(t, err)
	go func() { done <- s.Wait(ctx, at) }()
	cancel()
	if err := ended(t, done, time.Minute); !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Cancelled) {
		t.Error(err)
	}
}
