package mapper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newEntrance returns a rig in which the spare e is to replace d: e has got all slices, and the
// first questions about its copies have been asked.
func newEntrance(t *testing.T) *rig {
	t.Helper()
	return newEntranceWith(t, nil)
}

// newEntranceWith returns such a rig with a changed configuration.
func newEntranceWith(t *testing.T, change func(*cluster.Config)) *rig {
	t.Helper()
	r := newReplicated(t, change, "a", "b", "c", "d", "e")
	r.mute["d"] = true
	r.live(cluster.DefaultEvacuateAfter - time.Second)
	r.pass(2 * time.Second)
	r.wantShard("shard-1", "c +e")
	r.ack("e")
	r.pass(time.Second)
	if len(r.asked) == 0 || slices.ContainsFunc(r.asked, func(q balance.Certify) bool { return q.Target != "e" }) {
		t.Fatalf("asked %+v", r.asked)
	}
	return r
}

// TestASlaveThatRestartsIsComparedAgain: a slave that restarts is completely compared again,
// because its disk may be a different one.
func TestASlaveThatRestartsIsComparedAgain(t *testing.T) {
	r := newEntrance(t)
	first := r.answerFirst()
	r.pass(time.Second)
	if slices.ContainsFunc(r.asked, func(q balance.Certify) bool { return q.Lo == first.Lo }) {
		t.Fatalf("asked %+v after %+v", r.asked, first)
	}
	r.mute["e"] = true
	table, again := r.table("e"), false
	for range 20 {
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "e", Incarnation: "2", Position: balance.Position{Clock: r.clock}, Table: &table}))
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

// TestASlaveThatIsBehindIsNotAsked: a slave that is behind is not asked until it has applied
// the changes of the last seconds.
func TestASlaveThatIsBehindIsNotAsked(t *testing.T) {
	r := newEntrance(t)
	r.mute["e"] = true
	table, clock := r.table("e"), r.clock
	report := func(d time.Duration, clock func() uint64) {
		for end := r.now + d; r.now < end; {
			r.clock++
			r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(1)}})
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "e", Incarnation: "1", Position: balance.Position{Clock: clock()}, Table: &table}))
			r.pass(200 * time.Millisecond)
		}
	}
	report(cluster.DefaultDeadAfter+2*time.Second, func() uint64 { return clock })
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

// TestTheOnlyReplicaStays: the only replica stays in its set if it differs from the source of
// truth: slices that it does not serve are missing, and the rest are not.
func TestTheOnlyReplicaStays(t *testing.T) {
	r := newReplicated(t, func(c *cluster.Config) { c.Scrub, c.ScrubShare = time.Minute, 1 }, "a", "b")
	r.mute["a"] = true
	r.scrubFindsDamage("b")
	if len(r.discards) == 0 || r.discards[0].Slave != "b" {
		t.Fatalf("discards: %+v", r.discards)
	}
	r.wantShard("shard-0", "a b")
}

// switchBeside moves a slice between the shards of newEntrance up to its switch, which no slave
// knows yet; e does not take part.
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

// others makes all slaves of newEntrance except e report that they have everything.
func (r *rig) others() {
	r.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		r.ack(name)
	}
}

// answerAll answers the questions about copies of some slaves, and keeps the other questions.
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

// answerFirst answers the first question and returns it.
func (r *rig) answerFirst() balance.Certify {
	r.t.Helper()
	q := r.asked[0]
	r.asked = r.asked[1:]
	r.answerTo(q, nil)
	return q
}

// compare lets time pass, in which e is compared with the source of truth.
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

// TestASlaveJoinsWhileViewsChange: a slave that joins needs the published view, not the newest
// one, which none of the other slaves has either. From then on, publication waits for it.
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

// TestASliceThatWasAwayIsFilledAgain: a slice that left and returned is filled again on a slave
// that is behind: the slave still seems to hold the slice but is about to drop it.
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

// TestAViewWaitsForASlaveThatIsAboutToJoin: that the slave joins is decided, but not durable
// yet. It has been close to joining for so long that views no longer wait for it.
func TestAViewWaitsForASlaveThatIsAboutToJoin(t *testing.T) {
	r := newEntrance(t)
	r.switchBeside(1, "shard-0")
	table := r.table("e")
	r.others()
	r.wantPublished(2)
	r.compare()
	r.wantShard("shard-1", "c +e")
	r.pass(cluster.DefaultDeadAfter)
	r.switchBeside(3, "shard-0")
	r.slow = true
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "e", Incarnation: "1", Position: balance.Position{Clock: r.clock}, Table: &table}))
	r.pass(time.Second)
	r.wantShard("shard-1", "c +e")
	if r.hold == nil {
		t.Fatalf("nothing is about to change: %v", r.events)
	}
	r.others()
	r.wantPublished(2)
	r.save()
	r.carry()
	r.wantShard("shard-1", "c e")
	r.wantPublished(2)
	r.ack("e")
	r.wantPublished(3)
}

// TestASlaveWaitsUntilMastersAskIt: the state of a slave that has joined says whether masters ask
// it yet. Only then may another slave of its set be removed.
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

// laggard is a slave that gets everything late, and about which questions are answered one at a
// time, while slices go to and fro between its shard and the other one.
type laggard struct {
	*rig
	late   time.Duration
	pace   time.Duration // the time between two answers
	tables []balance.Table
	times  []time.Duration
	next   time.Duration
}

func newLaggard(t *testing.T, late, pace time.Duration) *laggard {
	t.Helper()
	r := newEntranceWith(t, func(c *cluster.Config) { c.Linger = 100 * time.Millisecond })
	r.mute["e"] = true
	return &laggard{rig: r, late: late, pace: pace, tables: []balance.Table{r.table("e")}, times: []time.Duration{r.now}}
}

// beginAMove begins to move a slice from one shard to the other.
func (r *rig) beginAMove() {
	r.t.Helper()
	for _, s := range r.m.Model().Slices() {
		if s.Move.Phase == balance.NoMove {
			to := "shard-0"
			if sh, _ := r.m.Model().Shard(s.Shard); sh.Name == to {
				to = "shard-1"
			}
			if r.m.Move(r.now, s.ID, to) == nil {
				r.carry()
				return
			}
		}
	}
}

// step begins a move, and all slaves but the laggard get what is new.
func (r *laggard) step() {
	r.t.Helper()
	r.beginAMove()
	r.others()
	if t := r.table("e"); !t.Equal(r.tables[len(r.tables)-1]) {
		r.tables, r.times = append(r.tables, t), append(r.times, r.now)
	}
	for len(r.times) > 1 && r.times[1] <= r.now-r.late {
		r.tables, r.times = r.tables[1:], r.times[1:]
	}
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "e", Incarnation: "1", Position: balance.Position{Clock: r.clock}, Table: &r.tables[0]}))
	r.carry()
	r.answerAll(func(target string) bool {
		switch {
		case target != "e":
			return true
		case r.now < r.next:
			return false
		}
		r.next = r.now + r.pace
		return true
	})
	if p := r.m.Published(); p != nil {
		r.must(r.m.Master(r.now, "m", p.View(), p.Revision()))
	}
	r.pass(100 * time.Millisecond)
}

// TestASlaveThatIsAlwaysBehindJoins: views wait for such a slave once it is close to joining.
func TestASlaveThatIsAlwaysBehindJoins(t *testing.T) {
	for _, c := range []struct{ late, pace time.Duration }{{2 * time.Second, 0}, {0, time.Second}, {3 * time.Second, 500 * time.Millisecond}} {
		r := newLaggard(t, c.late, c.pace)
		began, view := r.now, r.m.Published().View()
		for r.shard("shard-1") != "c e" {
			if r.step(); r.now > began+3*cluster.DefaultDeadAfter {
				t.Fatalf("late by %v, an answer each %v: it has not joined in view %d, published is %d: it waits for %s; %s",
					c.late, c.pace, r.m.Model().View(), r.m.Published().View(), r.m.WaitsFor(r.now)["e"], strings.Join(r.events[max(0, len(r.events)-30):], "\n"))
			}
		}
		t.Logf("joined after %v, in view %d after %d", r.now-began, r.m.Published().View(), view)
	}
}

// TestViewsDoNotWaitForEver: views do not wait forever for a slave that is to join but no
// longer gets anything.
func TestViewsDoNotWaitForEver(t *testing.T) {
	r := newLaggard(t, 2*time.Second, 500*time.Millisecond)
	for range 12 {
		r.step()
	}
	r.wantShard("shard-1", "c +e")
	r.late = time.Hour
	held := time.Duration(0)
	for range 3 {
		view, since := r.m.Published().View(), r.now
		for r.m.Published().View() == view {
			if r.step(); r.now > since+cluster.DefaultDeadAfter+time.Second {
				t.Fatalf("view %d has been the newest for %v; %s", view, r.now-since, strings.Join(r.events[max(0, len(r.events)-30):], "\n"))
			}
		}
		held = max(held, r.now-since)
	}
	if held < cluster.DefaultDeadAfter/2 {
		t.Errorf("no view waited for longer than %v", held)
	}
	r.wantShard("shard-1", "c +e")
}

// TestWhatLeavesIsComparedNoMore: a slave that is to join is asked only about what it holds.
func TestWhatLeavesIsComparedNoMore(t *testing.T) {
	r := newEntranceWith(t, func(c *cluster.Config) { c.Linger = 100 * time.Millisecond })
	q := r.asked[0]
	i := slices.IndexFunc(r.m.Model().Slices(), func(s balance.Slice) bool { return s.ID == q.Slice })
	r.switchBeside(i, "shard-0")
	for range 100 {
		if r.slice(i).Move.Phase == balance.NoMove {
			break
		}
		r.others()
		r.ack("e")
		r.must(r.m.Master(r.now, "m", r.m.Published().View(), r.m.Published().Revision()))
		r.pass(100 * time.Millisecond)
	}
	r.phase(i, balance.NoMove)
	r.ack("e")
	r.pass(time.Second)
	if r.m.Awaits(q.Seq) {
		t.Errorf("an answer about slice %d is awaited, which has left", q.Slice)
	}
	r.compare()
	r.wantShard("shard-1", "c e")
}

// TestSmallSlicesAreComparedAtOnce: if small slices were compared one after another, a slave
// could not join before there were as many answers as its shard has slices.
func TestSmallSlicesAreComparedAtOnce(t *testing.T) {
	r := newEntranceWith(t, func(c *cluster.Config) {
		c.Strategy = stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 100) }}
	})
	compared := make(map[uint64]bool)
	for len(r.asked) > 0 {
		if len(r.asked) > 32 {
			t.Fatalf("%d are compared at once", len(r.asked))
		}
		for _, q := range r.asked {
			if compared[q.Slice] {
				t.Errorf("slice %d is compared twice", q.Slice)
			}
			compared[q.Slice] = true
		}
		if rest := 50 - len(compared); len(r.asked) < 32 && rest > 0 {
			t.Errorf("%d are compared at once, and %d wait", len(r.asked), rest)
		}
		r.answerAll(func(string) bool { return true })
		r.pass(100 * time.Millisecond)
	}
	if len(compared) != 50 {
		t.Errorf("%d slices were compared, not the shard's 50", len(compared))
	}
	r.wantShard("shard-1", "c e")
}
