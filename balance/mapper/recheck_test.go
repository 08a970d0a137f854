package mapper_test

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newUnverified returns a rig of six slices on two slaves, of which a was started again without
// having been closed. The scrub does nothing for a long time.
func newUnverified(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 6, func(c *cluster.Config) { c.Scrub = 1000 * time.Hour }, "a", "b")
	r.crash("a")
	return r
}

// crash makes a slave join again with a store that was not closed.
func (r *rig) crash(slave string) {
	r.t.Helper()
	r.mute[slave] = true // it reports more than the rig would
	r.must(r.m.Join(r.now, balance.Joining{Name: slave, Table: r.table(slave), Position: balance.Position{Clock: r.clock}, Unverified: true}))
	r.carry()
}

// unverified makes a slave report whether it is unverified.
func (r *rig) unverified(slave string, is bool) {
	r.t.Helper()
	t := r.table(slave)
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: slave, Incarnation: "2", Position: balance.Position{Clock: r.clock}, Table: &t, Unverified: is}))
	r.carry()
}

// recheck answers the questions about a slave for some time, during which the slave reports
// that it is unverified.
func (r *rig) recheck(slave string, d time.Duration, change func(balance.Certify, *balance.Certified)) (asked []balance.Certify) {
	r.t.Helper()
	for end := r.now + d; r.now < end; {
		r.unverified(slave, true)
		asked = append(asked, r.scrubbing(200*time.Millisecond, change)...)
	}
	return asked
}

// TestAStoreThatWasNotClosedIsComparedFirst: all slices of this slave, and no others, are
// compared, the hottest first, before the scrub goes on. Progress is reported until the slave
// says that it has noted the end.
func TestAStoreThatWasNotClosedIsComparedFirst(t *testing.T) {
	r := newUnverified(t)
	if s := r.m.Recheck("b"); s != nil {
		t.Errorf("b is compared, too: %+v", s)
	}
	asked := r.recheck("a", time.Second, nil)
	want := map[uint64]bool{}
	for _, s := range r.m.Model().Slices() {
		if sh, _ := r.m.Model().Shard(s.Shard); sh.Name == "a" {
			want[s.ID] = true
		}
	}
	for _, q := range asked {
		if q.Target != "a" || !want[q.Slice] {
			t.Errorf("asked %+v", q)
		}
		delete(want, q.Slice)
	}
	if len(want) > 0 {
		t.Errorf("not asked about slices %v", want)
	}
	if s := r.m.Recheck("a"); s == nil || s.Slices != 3 || s.Compared != 3 {
		t.Errorf("%+v of 3 slices are compared", s)
	}
	if list := r.m.Status(r.now).Scrub.Rechecks; len(list) != 0 {
		t.Errorf("still under way: %+v", list)
	}
	r.wantEvent("its store was not closed: 3 slices compared")
	r.unverified("a", false)
	if s := r.m.Recheck("a"); s != nil {
		t.Errorf("it has noted that all was compared: %+v", s)
	}
	if again := r.recheck("a", time.Second, nil); len(again) > 0 {
		t.Errorf("asked again: %+v", again)
	}
}

// TestTheHottestSliceIsComparedFirst: a slave's slice with the highest load is compared first.
func TestTheHottestSliceIsComparedFirst(t *testing.T) {
	r := newRig(t, 6, func(c *cluster.Config) { c.Scrub = 1000 * time.Hour }, "a", "b")
	hot := r.slice(4)
	r.loaded(map[uint64]uint64{hot.ID: 900}, nil)
	r.crash("a")
	if asked := r.recheck("a", time.Second, nil); len(asked) == 0 || asked[0].Slice != hot.ID {
		t.Errorf("asked %+v, the hottest slice is %d", asked, hot.ID)
	}
}

// TestAStoreThatWasNotClosedAndDiffers: slices that differ are discarded, the others are
// compared.
func TestAStoreThatWasNotClosedAndDiffers(t *testing.T) {
	r := newUnverified(t)
	bad := r.slice(2)
	r.recheck("a", 3*time.Second, func(q balance.Certify, c *balance.Certified) {
		if q.Slice == bad.ID {
			c.Target.Bins[17].Hi++
		}
	})
	if !slices.ContainsFunc(r.discards, func(d balance.Discard) bool { return d.Slave == "a" && d.Slice == bad.ID }) {
		t.Errorf("discards %+v", r.discards)
	}
	if slices.ContainsFunc(r.discards, func(d balance.Discard) bool { return d.Slice != bad.ID }) {
		t.Errorf("discards %+v", r.discards)
	}
	if s := r.m.Recheck("a"); s == nil || s.Compared != s.Slices {
		t.Errorf("%+v", s)
	}
}

// TestWhatChangesWhileItIsComparedAgain: slices that move, or whose slave is lost for a while,
// do not hold up the comparison.
func TestWhatChangesWhileItIsComparedAgain(t *testing.T) {
	r := newUnverified(t)
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.asked = nil // the questions stay unanswered
	r.pass(3 * cluster.DefaultDeadAfter)
	if s := r.m.Recheck("a"); s == nil || s.Compared == s.Slices {
		t.Fatalf("%+v", s)
	}
	r.recheck("a", time.Minute, nil)
	if s := r.m.Recheck("a"); s == nil || s.Compared != s.Slices {
		t.Errorf("%+v", s)
	}
}

// TestACrashedSlaveCrashesAgain: a slave that crashes again is compared from the beginning.
func TestACrashedSlaveCrashesAgain(t *testing.T) {
	r := newUnverified(t)
	first := r.recheck("a", time.Second, nil)
	r.crash("a")
	if s := r.m.Recheck("a"); s == nil || s.Compared == s.Slices {
		t.Fatalf("%+v", s)
	}
	if again := r.recheck("a", time.Second, nil); len(again) != len(first) {
		t.Errorf("asked %+v, the first time %+v", again, first)
	}
}

// TestAStoreThatWasNotClosedBeforeTheFirstPlan: changes before the first plan are not part of
// the comparison.
func TestAStoreThatWasNotClosedBeforeTheFirstPlan(t *testing.T) {
	r := newRig(t, 2, func(c *cluster.Config) { c.Slaves = 1 }, "a")
	r.state = nil
	r.cfg.Slaves = 2
	r.start()
	r.must(r.m.Join(r.now, balance.Joining{Name: "a", Unverified: true}))
	r.carry()
	r.clock++
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(1)}})
	if s := r.m.Recheck("a"); s != nil {
		t.Errorf("compared without a plan: %+v", s)
	}
}
