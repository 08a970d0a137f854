package mapper_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

// wants is a strategy that proposes the operations of a test, once.
type wants struct {
	ops   []balance.Op
	in    balance.Input
	asked int
}

func (*wants) Name() string { return "wants" }

func (w *wants) Initial(in balance.Input) (balance.Proposal, error) { return dealt(in, 8) }

func (w *wants) Iterate(in balance.Input) (balance.Proposal, error) {
	w.in = in
	w.asked++
	ops := w.ops
	w.ops = nil
	p := balance.Proposal{Ops: ops, Reasons: []balance.Reason{{Op: -1, Slice: 3, Text: "it is where it should be"}, {Op: -1, Text: "all is well"}}}
	for i := range ops {
		p.Reasons = append(p.Reasons, balance.Reason{Op: i, Text: "the test wants it"})
	}
	return p, nil
}

const rigInterval = 10 * time.Second

// newWants returns a rig of 8 slices on the given slaves, whose strategy is asked every 10 s.
func newWants(t *testing.T, change func(*cluster.Config), slaves ...string) (*rig, *wants) {
	t.Helper()
	w := &wants{}
	r := newRig(t, 8, func(c *cluster.Config) {
		c.Strategy, c.Interval = w, rigInterval
		if change != nil {
			change(c)
		}
	}, slaves...)
	return r, w
}

// through lets all moves finish.
func (r *rig) through() {
	r.t.Helper()
	for range 40 {
		r.ackAll()
		for _, q := range r.asked {
			r.asked = []balance.Certify{q}
			r.answer(nil)
		}
		r.asked = nil
		r.pass(200 * time.Millisecond)
	}
}

// TestMovesThatAreRefused tests commands for moves that must be refused.
func TestMovesThatAreRefused(t *testing.T) {
	r, _ := newWants(t, func(c *cluster.Config) {
		c.Limits = map[string]balance.Limit{"d": {Weight: 600}}
	}, "a", "b", "c", "d")
	first := r.slice(0).ID
	r.must(r.m.Drain(r.now, "c"))
	for name, c := range map[string]struct {
		slice uint64
		slave string
		kind  fault.Kind
		text  string
	}{
		"unknown slice":  {99, "b", fault.NotFound, "no slice 99"},
		"unknown shard":  {first, "x", fault.NotFound, "no shard x"},
		"where it is":    {first, "a", fault.Conflict, "on shard a already"},
		"draining":       {first, "c", fault.Conflict, "draining"},
		"over its limit": {first, "d", fault.Conflict, "may weigh 600 at most"},
	} {
		r.carry()
		err := r.m.Move(r.now, c.slice, c.slave)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.slow = true
	r.must(r.m.Move(r.now, first, "b"))
	if err := r.m.Move(r.now, first, "b"); !fault.Is(err, fault.Conflict) { // the first move is being saved
		t.Errorf("a second move: %v", err)
	}
	r.slow = false
	r.carry()
	if err := r.m.Move(r.now, first, "b"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "on its way") {
		t.Errorf("a second move: %v", err)
	}
	r.mute["b"] = true
	r.pass(cluster.DefaultDeadAfter + time.Second)
	if err := r.m.Move(r.now, r.slice(4).ID, "b"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "lost") {
		t.Errorf("to a lost slave: %v", err)
	}
}

// TestProposalsOverLimits: proposals that exceed limits are refused completely, and the mapper
// goes on.
func TestProposalsOverLimits(t *testing.T) {
	r, w := newWants(t, func(c *cluster.Config) {
		c.Budget = balance.Budget{Share: 0.3}
		c.Limits = map[string]balance.Limit{"b": {Weight: 1300}}
	}, "a", "b")
	start := func(slice int, shard balance.ShardID) balance.Op {
		return balance.Op{Kind: balance.OpStart, Slice: r.slice(slice).ID, Shard: shard}
	}
	iterate := func(ops ...balance.Op) string {
		w.ops = ops
		r.pass(rigInterval)
		return r.m.Status(r.now).Last.Refused
	}
	for text, ops := range map[string][]balance.Op{
		"exceed what may move at once": {start(1, 1), start(3, 1), start(5, 1)},
		"may weigh 1300 at most":       {start(0, 2), start(2, 2)},
	} {
		before := r.m.Model()
		if why := iterate(ops...); !strings.Contains(why, text) || r.m.Model() != before {
			t.Errorf("%q: %q", text, why)
		}
		r.wantTrouble(text)
	}
	// Moves in progress count.
	if why := iterate(start(1, 1)); why != "" {
		t.Fatal(why)
	}
	r.phase(1, balance.Copying)
	if b := w.in.Budget.Share; b != 0.3 {
		t.Errorf("budget %v", b)
	}
	if why := iterate(start(3, 1), start(5, 1)); !strings.Contains(why, "exceed what may move at once") {
		t.Errorf("%q", why)
	}
	if b := w.in.Budget.Share; b < 0.1 || b > 0.2 {
		t.Errorf("budget %v while something moves", b)
	}
	if ok, why := w.in.May(r.slice(1).ID, 1); ok || !strings.Contains(why, "on its way") {
		t.Errorf("%v %q", ok, why)
	}
	if ok, why := w.in.May(r.slice(3).ID, 1); !ok {
		t.Errorf("%q", why)
	}
}

// TestNoThrashing: a slice that left a slave, and its parts, stay away for ten intervals,
// unless the load doubles; people may move it back at once.
func TestNoThrashing(t *testing.T) {
	r, w := newWants(t, nil, "a", "b")
	first := r.slice(0)
	w.ops = []balance.Op{{Kind: balance.OpStart, Slice: first.ID, Shard: 2}}
	r.pass(rigInterval)
	r.through()
	r.phase(0, balance.NoMove)
	back := func() string {
		t.Helper()
		e := r.m.Model().Edit()
		half, err := e.Split(first.ID, first.Hi/2)
		r.must(err)
		r.must(e.Start(half, 1))
		w.ops = e.Ops()
		r.pass(rigInterval)
		return r.m.Status(r.now).Last.Refused
	}
	if why := back(); !strings.Contains(why, "stays away") {
		t.Fatalf("%q", why)
	}
	if ok, why := w.in.May(first.ID, 1); ok || !strings.Contains(why, "left it when it moved to b") {
		t.Errorf("%q", why)
	}
	story, err := r.m.Why(r.now, first.ID)
	r.must(err)
	if len(story.Rests) != 1 || !strings.Contains(story.Rests[0], "to a: it left it") {
		t.Errorf("%q", story.Rests)
	}
	for n := uint64(1); n <= 31; n++ { // the weight of the first slice doubles
		r.m.Weigh(rigKey(n), 25)
	}
	if why := back(); why != "" {
		t.Fatal(why)
	}
	r.through()
	r.must(r.m.Move(r.now, r.m.Model().At(first.Hi).ID, "b"))
	r.through()
	if shard := r.m.Model().At(first.Hi).Shard; shard != 2 {
		t.Errorf("people could not move it back")
	}
	r.pass(11 * rigInterval)
	if ok, why := w.in.May(r.slice(0).ID, 1); !ok {
		t.Errorf("after ten intervals: %q", why)
	}
}

// TestAShardIsDrained: a drained shard's slices go to others within the budget, whether or not
// the strategy is asked. Then the shard is Drained, may leave, and may come back.
func TestAShardIsDrained(t *testing.T) {
	r, w := newWants(t, func(c *cluster.Config) { c.Budget = balance.Budget{Share: 0.14} }, "a", "b", "c")
	r.m.Pause(true)
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	if err := r.m.Drain(r.now, "b"); !fault.Is(err, fault.Conflict) {
		t.Errorf("drained twice: %v", err)
	}
	most := 0
	for range 30 {
		moving := 0
		for _, s := range r.m.Model().Slices() {
			if s.Move.Phase == balance.Copying {
				moving++
			}
		}
		most = max(most, moving)
		r.through()
		r.pass(rigInterval)
	}
	sh, _ := r.m.Model().Named("b")
	if sh.State != balance.Drained || len(r.table("b").Slices) != 0 {
		t.Fatalf("%+v holds %+v", sh, r.table("b"))
	}
	if most != 2 { // one of them is empty
		t.Errorf("%d slices moved at once", most)
	}
	if w.asked != 0 {
		t.Errorf("the strategy was asked although it is paused")
	}
	r.wantEvent("shard b is being emptied")
	if err := r.m.Restore(r.now, "b"); err != nil {
		t.Fatal(err)
	}
	r.carry()
	if sh, _ := r.m.Model().Named("b"); sh.State != balance.Active {
		t.Errorf("%+v", sh)
	}
	if err := r.m.Restore(r.now, "b"); !fault.Is(err, fault.Conflict) {
		t.Errorf("restored twice: %v", err)
	}
	r.must(r.m.Drain(r.now, "b"))
	r.must(r.m.Drain(r.now, "a"))
	if err := r.m.Drain(r.now, "c"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "last active") {
		t.Errorf("the last one: %v", err)
	}
}

// TestAnEmptiedShardWaitsForItsDisk: a shard is Drained only when it holds nothing.
func TestAnEmptiedShardWaitsForItsDisk(t *testing.T) {
	r, _ := newWants(t, nil, "a", "b")
	r.residue = map[string]balance.Held{"b": {ID: 2, Lo: 5, Hi: 9, State: balance.Residue}}
	r.must(r.m.Drain(r.now, "b"))
	r.carry()
	for range 5 {
		r.through()
	}
	if sh, _ := r.m.Model().Named("b"); sh.State != balance.Draining || len(r.table("b").Slices) != 1 {
		t.Errorf("%+v %+v", sh, r.table("b"))
	}
	r.residue = nil
	r.through()
	if sh, _ := r.m.Model().Named("b"); sh.State != balance.Drained {
		t.Errorf("%+v", sh)
	}
}

// TestALostShardIsEvacuated: a lost shard is evacuated after EvacuateAfter, but not while
// iterations are paused.
func TestALostShardIsEvacuated(t *testing.T) {
	r, _ := newWants(t, func(c *cluster.Config) { c.EvacuateAfter = time.Minute }, "a", "b", "c")
	r.mute["b"] = true
	r.m.Pause(true)
	r.pass(3 * time.Minute)
	if n := len(r.m.Status(r.now).InFlight); n != 0 {
		t.Fatalf("%d slices move although it is paused", n)
	}
	r.m.Pause(false)
	r.pass(rigInterval)
	r.through()
	r.pass(rigInterval)
	for _, s := range r.m.Model().Slices() {
		if s.Shard == 2 {
			t.Errorf("%+v", s)
		}
	}
	r.wantEvent("shard b is lost")
	if sh, _ := r.m.Model().Named("b"); sh.State != balance.Active {
		t.Errorf("%+v", sh)
	}
}

// TestNoRefuge: if no shard can take slices that must leave, the status says so.
func TestNoRefuge(t *testing.T) {
	r, _ := newWants(t, func(c *cluster.Config) {
		c.Limits = map[string]balance.Limit{"b": {Weight: 1010}}
	}, "a", "b")
	r.must(r.m.Drain(r.now, "a"))
	r.carry()
	r.pass(time.Second)
	r.wantTrouble("cannot leave shard a: shard b may weigh 1010 at most")
}

// TestPauseAndUse: while iterations are paused, moves and commands go on; a new strategy is
// asked at once.
func TestPauseAndUse(t *testing.T) {
	r, w := newWants(t, nil, "a", "b")
	r.m.Pause(true)
	r.start0()
	r.through()
	r.pass(3 * rigInterval)
	if w.asked != 0 || r.slice(0).Shard != 2 {
		t.Errorf("asked %d times, %+v", w.asked, r.slice(0))
	}
	r.m.Pause(false)
	other := &wants{ops: []balance.Op{{Kind: balance.OpStart, Slice: r.slice(2).ID, Shard: 2}}}
	r.m.Use(r.now, other)
	r.carry()
	r.phase(2, balance.Copying)
	if w.asked != 0 || other.asked != 1 {
		t.Errorf("asked %d and %d times", w.asked, other.asked)
	}
}

// TestPlanAndShadows: neither a plan nor a strategy in shadow moves anything.
func TestPlanAndShadows(t *testing.T) {
	shadow := &named{name: "other"}
	r, w := newWants(t, func(c *cluster.Config) {
		c.Shadows = []balance.Strategy{shadow, &named{name: "wants"}, &named{name: "fails", err: fmt.Errorf("no idea")}}
	}, "a", "b")
	start := []balance.Op{{Kind: balance.OpStart, Slice: r.slice(0).ID, Shard: 2}}
	w.ops = start
	p, err := r.m.Plan(r.now)
	if err != nil || len(p.Ops) != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	w.ops = []balance.Op{{Kind: balance.OpStart, Slice: 77, Shard: 2}}
	if _, err := r.m.Plan(r.now); !fault.Is(err, fault.Conflict) {
		t.Errorf("a plan that would be refused: %v", err)
	}
	shadow.ops = start
	r.pass(rigInterval)
	r.phase(0, balance.NoMove)
	s := r.m.Status(r.now).Shadows
	if len(s) != 2 || s[0].Strategy != "other" || s[0].Moves != 1 || s[0].Items == 0 || s[1].Refused != "no idea" {
		t.Errorf("%+v", s)
	}
}

// named is a strategy with a name.
type named struct {
	wants
	name string
	err  error
}

func (n *named) Name() string { return n.name }

func (n *named) Iterate(in balance.Input) (balance.Proposal, error) {
	if n.err != nil {
		return balance.Proposal{}, n.err
	}
	return n.wants.Iterate(in)
}

// TestRestSince tests that iterations without moves are counted.
func TestRestSince(t *testing.T) {
	r, w := newWants(t, nil, "a", "b")
	w.ops = []balance.Op{{Kind: balance.OpStart, Slice: r.slice(0).ID, Shard: 2}}
	r.pass(rigInterval)
	if s := r.m.Status(r.now); s.Idle != 0 || s.RestFor != 0 || len(s.InFlight) != 1 {
		t.Errorf("%+v", s)
	}
	r.through()
	r.pass(5 * rigInterval)
	s := r.m.Status(r.now)
	if s.Idle < 4 || s.RestFor < 3*rigInterval || len(s.InFlight) != 0 {
		t.Errorf("%+v", s)
	}
}
