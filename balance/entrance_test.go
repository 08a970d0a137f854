package balance_test

import (
	"strings"
	"testing"
	"time"

	"adshard/balance"
)

// newEntrance returns a rig in which the spare e is to replace d: it has got all slices,
// and the first question whether a copy of it is right is asked.
func newEntrance(t *testing.T) *rig {
	t.Helper()
	r := newReplicated(t, nil, "a", "b", "c", "d", "e")
	r.mute["d"] = true
	r.live(balance.DefaultEvacuateAfter - time.Second)
	r.pass(2 * time.Second)
	r.wantShard("shard-1", "c +e")
	r.ack("e")
	r.pass(time.Second)
	if len(r.asked) != 1 || r.asked[0].Target != "e" {
		t.Fatalf("asked %+v", r.asked)
	}
	return r
}

// TestASlaveThatRestartsIsComparedAgain, all of it: its disk may be another one.
func TestASlaveThatRestartsIsComparedAgain(t *testing.T) {
	r := newEntrance(t)
	first := r.asked[0]
	r.answer(nil)
	r.pass(time.Second)
	if len(r.asked) != 1 || r.asked[0].Lo == first.Lo {
		t.Fatalf("asked %+v after %+v", r.asked, first)
	}
	r.mute["e"] = true
	table, again := r.table("e"), false
	for range 20 {
		r.must(r.m.Report(r.now, balance.NodeReport{Name: "e", Incarnation: "2", Position: balance.Position{Clock: r.clock}, Table: &table}))
		r.pass(200 * time.Millisecond)
		for _, q := range r.asked {
			again = again || q.Lo == first.Lo
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
	}
	r.wantShard("shard-1", "c e")
	if !again {
		t.Error("what was certified before it started again counts")
	}
}

// TestASlaveThatIsBehindIsNotAsked before it has applied the changes of the last seconds.
func TestASlaveThatIsBehindIsNotAsked(t *testing.T) {
	r := newEntrance(t)
	r.mute["e"] = true
	table, clock := r.table("e"), r.clock
	report := func(d time.Duration, clock func() uint64) {
		for end := r.now + d; r.now < end; {
			r.clock++
			r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(1)}})
			r.must(r.m.Report(r.now, balance.NodeReport{Name: "e", Incarnation: "1", Position: balance.Position{Clock: clock()}, Table: &table}))
			r.pass(200 * time.Millisecond)
		}
	}
	report(balance.DefaultDeadAfter+2*time.Second, func() uint64 { return clock })
	for range 20 {
		for _, q := range r.asked {
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
		report(200*time.Millisecond, func() uint64 { return clock })
	}
	r.wantShard("shard-1", "c +e")
	report(time.Second, func() uint64 { return r.clock })
	for range 20 {
		for _, q := range r.asked {
			if r.m.Awaits(q.Seq) {
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
		report(200*time.Millisecond, func() uint64 { return r.clock })
	}
	r.wantShard("shard-1", "c e")
}

// TestTheOnlyReplicaStays in its set when it differs from the source of truth: what it
// does not serve is missing, and the rest is not.
func TestTheOnlyReplicaStays(t *testing.T) {
	r := newReplicated(t, func(c *balance.MapperConfig) { c.Scrub, c.ScrubShare = time.Minute, 1 }, "a", "b")
	r.mute["a"] = true
	r.scrubFindsDamage("b")
	if len(r.discards) == 0 || r.discards[0].Node != "b" {
		t.Fatalf("discards: %+v", r.discards)
	}
	r.wantShard("shard-0", "a b")
}

// switchBeside moves a slice between the shards of newEntrance up to its switch, of which
// nobody has heard yet; e takes no part.
func (r *rig) switchBeside(i int, to string) {
	r.t.Helper()
	published := r.m.Published().View()
	r.must(r.m.Move(r.now, r.slice(i).ID, to))
	r.carry()
	for range 20 {
		if r.slice(i).Move.Phase == balance.Switched {
			break
		}
		r.others()
		r.answerAll(func(target string) bool { return target != "e" })
		if r.slice(i).Move.Phase != balance.Switched {
			r.pass(100 * time.Millisecond)
		}
	}
	r.phase(i, balance.Switched)
	r.wantPublished(published)
	r.wantShard("shard-1", "c +e")
}

// others has all slaves of newEntrance but e report that they have all.
func (r *rig) others() {
	r.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		r.ack(name)
	}
}

// answerAll answers the questions on copies of some slaves, and keeps the others.
func (r *rig) answerAll(of func(target string) bool) {
	r.t.Helper()
	asked := r.asked
	r.asked = nil
	for _, q := range asked {
		switch {
		case !of(q.Target):
			r.asked = append(r.asked, q)
		case r.m.Awaits(q.Seq):
			r.answerTo(q, nil)
		}
	}
}

// compare lets time pass in which e is compared with the source of truth.
func (r *rig) compare() {
	r.t.Helper()
	for range 12 {
		r.answerAll(func(target string) bool { return target == "e" })
		r.pass(100 * time.Millisecond)
	}
}

func (r *rig) wantPublished(view uint64) {
	r.t.Helper()
	if got := r.m.Published().View(); got != view {
		r.t.Fatalf("view %d is published, want %d; %s", got, view, strings.Join(r.events, "\n"))
	}
}

// TestASlaveJoinsWhileViewsChange: it needs the published view, not the newest, which
// none of the others has either. From then on publication waits for it.
func TestASlaveJoinsWhileViewsChange(t *testing.T) {
	r := newEntrance(t)
	r.switchBeside(1, "shard-0")
	r.compare()
	r.wantShard("shard-1", "c e")
	r.others()
	r.wantPublished(1)
	r.ack("e")
	r.wantPublished(2)
}

// TestASliceThatWasAwayIsFilledAgain on a slave that is behind: it still seems to hold what
// it is about to drop.
func TestASliceThatWasAwayIsFilledAgain(t *testing.T) {
	r := newEntrance(t)
	r.switchBeside(1, "shard-0")
	r.others()
	r.ack("e")
	r.wantPublished(2)
	for range 100 {
		if r.slice(1).Move.Phase == balance.NoMove {
			break
		}
		r.must(r.m.Master(r.now, "m", 2, r.m.Published().Revision()))
		r.others()
		r.pass(100 * time.Millisecond)
	}
	r.phase(1, balance.NoMove)
	r.switchBeside(1, "shard-1")
	r.compare()
	r.wantShard("shard-1", "c +e")
	r.ack("e")
	r.compare()
	r.wantShard("shard-1", "c e")
}

// TestAViewWaitsForASlaveThatIsAboutToJoin: that it joins is decided, but not durable yet.
func TestAViewWaitsForASlaveThatIsAboutToJoin(t *testing.T) {
	r := newEntrance(t)
	r.switchBeside(1, "shard-0")
	r.slow = true
	r.compare()
	r.wantShard("shard-1", "c +e")
	if r.hold == nil {
		t.Fatalf("nothing is about to change: %v", r.events)
	}
	r.others()
	r.wantPublished(1)
	r.save()
	r.carry()
	r.wantShard("shard-1", "c e")
	r.wantPublished(1)
	r.ack("e")
	r.wantPublished(2)
}

// TestASlaveWaitsUntilMastersAskIt: whoever looks at it knows when another of its set may be
// taken away.
func TestASlaveWaitsUntilMastersAskIt(t *testing.T) {
	r := newEntrance(t)
	before := r.m.Published()
	waits := func(part string) {
		t.Helper()
		if w := r.m.WaitsFor(r.now)["e"]; (w == "") != (part == "") || !strings.Contains(w, part) {
			t.Fatalf("it waits for %q, not for %q", w, part)
		}
	}
	r.must(r.m.Master(r.now, "m", before.View(), before.Revision()))
	waits("compared")
	r.compare()
	r.wantShard("shard-1", "c e")
	r.must(r.m.Master(r.now, "m", before.View(), before.Revision()))
	r.pass(time.Second)
	r.must(r.m.Master(r.now, "m", before.View(), before.Revision()))
	waits("masters")
	r.must(r.m.Master(r.now, "m", r.m.Published().View(), r.m.Published().Revision()))
	waits("")
}
