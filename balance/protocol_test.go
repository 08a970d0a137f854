package balance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
)

// rig drives a mapper by messages: nodes and masters are what a test says of
// them. Its items have the keys n<<56 + n, n from 1 to 200, and weigh 10 each.
type rig struct {
	t      *testing.T
	m      *balance.Mapper
	cfg    balance.MapperConfig
	index  *balance.Index
	now    time.Duration
	clock  uint64
	state  []byte // durable
	hold   *balance.SaveState
	slow   bool // states are made durable by save alone
	asked  []balance.Certify
	quanta []balance.Quantum
	told   []string // events and troubles
	ill    []string // troubles
	mute   map[string]bool
	// residue is what nodes still have to delete, before all that they hold.
	residue map[string]balance.Held
}

const rigItems = 200

func rigKey(n uint64) balance.Key { return balance.Key(n<<56 + n) }

// newRig returns a rig whose first plan is published. The ring is cut into
// slices of equal width, dealt out to the nodes in turn.
func newRig(t *testing.T, slices int, change func(*balance.MapperConfig), nodes ...string) *rig {
	t.Helper()
	r := &rig{t: t, clock: 100, index: &balance.Index{}, mute: map[string]bool{}}
	for n := uint64(1); n <= rigItems; n++ {
		r.index.Put(rigKey(n), 10)
	}
	r.cfg = balance.MapperConfig{
		Epoch: 1, Nodes: len(nodes), Order: balance.ByHash, Interval: time.Hour, EvacuateAfter: balance.DefaultEvacuateAfter,
		Strategy: stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, slices) }},
	}
	if change != nil {
		change(&r.cfg)
	}
	r.start()
	for _, n := range nodes {
		r.must(r.m.Join(r.now, balance.Joining{Name: n}))
	}
	r.carry()
	r.ackAll()
	if r.m.Published() == nil || r.m.Published().View() != 1 {
		t.Fatalf("the first plan is not published: %v", r.told)
	}
	return r
}

func dealt(in balance.Input, n int) (balance.Proposal, error) {
	e := in.Model.Edit()
	nodes := in.Model.Nodes()
	last := in.Model.Slices()[0].ID
	for i := 1; i < n; i++ {
		next, err := e.Split(last, balance.MaxKey/balance.Key(n)*balance.Key(i)+1)
		if err != nil {
			return balance.Proposal{}, err
		}
		last = next
		if err := e.Map(last, nodes[i%len(nodes)].ID); err != nil {
			return balance.Proposal{}, err
		}
	}
	return balance.Proposal{Ops: e.Ops()}, nil
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// start starts a mapper with the durable state.
func (r *rig) start() {
	r.t.Helper()
	m, err := balance.NewMapper(r.cfg, r.index, r.state)
	r.must(err)
	r.m, r.asked, r.hold = m, nil, nil
	m.Loaded(r.now, r.clock)
	r.carry()
}

// restart is what a balancer does that was killed; its nodes register again.
func (r *rig) restart(nodes ...string) {
	r.t.Helper()
	tables := map[string]balance.Table{}
	for _, n := range nodes {
		tables[n] = r.table(n)
	}
	r.cfg.Epoch++
	r.start()
	for _, n := range nodes {
		r.must(r.m.Join(r.now, balance.Joining{Name: n, Table: tables[n]}))
	}
	r.carry()
}

// carry takes the messages and makes states durable.
func (r *rig) carry() {
	for range 20 {
		out := r.m.Out()
		r.asked = append(r.asked, out.Certify...)
		r.quanta = append(r.quanta, out.Quanta...)
		for _, e := range out.Events {
			r.told = append(r.told, e.String())
		}
		for _, err := range out.Troubles {
			r.told = append(r.told, err.Error())
			r.ill = append(r.ill, err.Error())
		}
		if out.Save != nil {
			r.hold = out.Save
		}
		if r.hold == nil || r.slow {
			return
		}
		r.save()
	}
	r.t.Fatal("the mapper never comes to rest")
}

func (r *rig) save() {
	if s := r.hold; s != nil {
		r.hold, r.state = nil, s.Bytes
		r.m.Saved(r.now, s.Seq)
	}
}

// pass lets time pass, in beats; nodes that are not mute report.
func (r *rig) pass(d time.Duration) {
	for end := r.now + d; r.now < end; {
		r.now = min(end, r.now+200*time.Millisecond)
		if m := r.m.Model(); m != nil {
			for _, n := range m.Nodes() {
				if !r.mute[n.Name] {
					_ = r.m.Report(r.now, balance.NodeReport{Name: n.Name, Incarnation: "1"})
				}
			}
		}
		r.m.Tick(r.now)
		r.carry()
	}
}

// table is what the newest model wants of a node, all of it there.
func (r *rig) table(node string) balance.Table {
	n, _ := r.m.Model().Named(node)
	t := r.m.Model().Table(n.ID)
	if h, there := r.residue[node]; there {
		t.Slices = append([]balance.Held{h}, t.Slices...)
	}
	return t
}

// ack has a node report that it has all.
func (r *rig) ack(node string) {
	r.t.Helper()
	t := r.table(node)
	r.must(r.m.Report(r.now, balance.NodeReport{Name: node, Incarnation: "1", Table: &t}))
	r.carry()
}

func (r *rig) ackAll() {
	r.t.Helper()
	for _, n := range r.m.Model().Nodes() {
		if !r.mute[n.Name] {
			r.ack(n.Name)
		}
	}
}

// answer answers the only question, with equal copies, changed by change.
func (r *rig) answer(change func(*balance.Certified)) {
	r.t.Helper()
	if len(r.asked) != 1 {
		r.t.Fatalf("%d questions: %+v, %v", len(r.asked), r.asked, r.told)
	}
	q := r.asked[0]
	r.asked = nil
	c := balance.Certificate{Clock: r.clock, Bytes: 6400}
	for i := range c.Bins {
		if q.Wanted>>i&1 != 0 {
			c.Bins[i] = balance.Sum{Count: 2, Hi: uint64(i), Lo: 7}
			c.Items += 2
		}
	}
	source, target := c, c
	a := balance.Certified{Seq: q.Seq, Source: &source, Target: &target, Truth: c}
	if q.Source == "" {
		a.Source = nil
	}
	if change != nil {
		change(&a)
	}
	r.m.Certified(r.now, a)
	r.carry()
}

// slice returns the slice that is i-th by key.
func (r *rig) slice(i int) balance.Slice { return r.m.Model().Slices()[i] }

// phase tells how far the move of the i-th slice is.
func (r *rig) phase(i int, want balance.MovePhase) {
	r.t.Helper()
	if got := r.slice(i); got.Move.Phase != want {
		r.t.Fatalf("slice %+v is %v, wanted %v; %s", got, got.Move.Phase, want, strings.Join(r.told, "\n"))
	}
}

// start0 starts to move the first slice from a to b, up to the question.
func (r *rig) start0() {
	r.t.Helper()
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.phase(0, balance.Copying)
	r.ackAll()
}

// switch0 moves the first slice from a to b up to its switch.
func (r *rig) switch0() {
	r.t.Helper()
	r.start0()
	r.answer(nil)
	r.pass(200 * time.Millisecond)
	r.phase(0, balance.Switched)
}

func (r *rig) wantTrouble(text string) {
	r.t.Helper()
	if !slices.ContainsFunc(r.ill, func(s string) bool { return strings.Contains(s, text) }) {
		r.t.Errorf("nobody complained of %q: %q", text, r.ill)
	}
}

func (r *rig) wantEvent(text string) {
	r.t.Helper()
	if !slices.ContainsFunc(r.told, func(s string) bool { return strings.Contains(s, text) }) {
		r.t.Errorf("nobody said %q: %q", text, r.told)
	}
}

// TestAMove from its start to its finish, with what it tells.
func TestAMove(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.switch0()
	if p := r.m.Published(); p.View() != 1 {
		t.Fatalf("view %d is published before its nodes know it", p.View())
	}
	r.ackAll()
	if p := r.m.Published(); p.View() != 2 {
		t.Fatalf("view %d is published", p.View())
	}
	r.pass(balance.DefaultLinger + 200*time.Millisecond)
	r.phase(0, balance.NoMove)
	s := r.m.Status(r.now)
	if s.View != 2 || s.Published != 2 || len(s.InFlight) != 0 || s.Moved != (balance.Moved{Moves: 1, Items: 128, Bytes: 6400}) {
		t.Errorf("%+v", s)
	}
	if r.slice(0).Node != 2 || r.m.Model().Least() != 2 {
		t.Errorf("%+v", r.slice(0))
	}
	for _, text := range []string{"begins to move from a to b: by command", "is certified", "is served by b from view 2 on", "has left a for b: 128 items"} {
		r.wantEvent(text)
	}
	if len(r.ill) != 0 {
		t.Errorf("troubles: %q", r.ill)
	}
}

// TestNothingIsSentBeforeItIsDurable: no quantum, no view.
func TestNothingIsSentBeforeItIsDurable(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.slow, r.quanta = true, nil
	before := r.m.Model()
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.pass(time.Second)
	for _, q := range r.quanta {
		if !q.Empty() {
			t.Fatalf("sent: %+v", q)
		}
	}
	if r.m.Model() != before {
		t.Fatal("the model changed")
	}
	r.save()
	r.carry()
	if q := r.quanta[len(r.quanta)-1]; len(q.Ops) != 1 || q.Ops[0].Kind != balance.OpStart {
		t.Fatalf("%+v", q)
	}
	r.phase(0, balance.Copying)
}

// TestASliceIsSwitchedOnlyWhenAllPartsMatch: parts that changed after the
// earliest of the clocks say nothing, and are asked for again.
func TestASliceIsSwitchedOnlyWhenAllPartsMatch(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	k := rigKey(3) // in the first slice
	r.clock++
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: k}})
	r.answer(func(c *balance.Certified) {
		c.Target.Clock-- // it has not applied the change yet: it may differ there
		c.Target.Bins[balance.Bin(k)].Lo++
	})
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 1 || r.asked[0].Wanted != 1<<balance.Bin(k) {
		t.Fatalf("asked: %+v", r.asked)
	}
	// The next answer speaks of changes that the mapper has not seen yet.
	r.clock += 5
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 0 {
		t.Fatalf("asked before the answer could be judged: %+v", r.asked)
	}
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(190)}})
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestParentsChangeAllParts: what items share is summed with each of them.
func TestParentsChangeAllParts(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	r.clock++
	r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Parent: balance.Parent{Kind: 1, ID: 1}, Items: balance.Interval{Lo: 1, Hi: 5}}})
	r.answer(func(c *balance.Certified) { c.Source.Clock--; c.Source.Bins[9].Hi++ })
	r.pass(time.Second)
	r.phase(0, balance.Copying)
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestAViewIsPublishedWhenAllNodesHaveIt: all that are alive, that is.
func TestAViewIsPublishedWhenAllNodesHaveIt(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b", "c")
	r.switch0()
	r.ack("a")
	r.ack("b")
	r.pass(time.Second)
	if v := r.m.Published().View(); v != 1 {
		t.Fatalf("view %d is published, but c has it not", v)
	}
	if w := r.m.Status(r.now).WaitingFor; len(w) != 1 || !strings.Contains(w[0], "node c to acknowledge view 2") {
		t.Errorf("%q", w)
	}
	r.mute["c"] = true
	r.pass(balance.DefaultDeadAfter + time.Second)
	if v := r.m.Published().View(); v != 2 {
		t.Fatalf("view %d is published although c is lost", v)
	}
}

// TestAMoveIsFinishedWhenNobodyNeedsTheOldView: every master has the new one,
// or its lease is over, and the longest query has ended.
func TestAMoveIsFinishedWhenNobodyNeedsTheOldView(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	for _, m := range []string{"m1", "m2"} {
		r.m.Master(r.now, m, 1)
	}
	r.switch0()
	r.ackAll()
	r.m.Master(r.now, "m1", 2)
	r.m.Master(r.now, "m2", 2)
	r.pass(balance.DefaultLinger - 200*time.Millisecond)
	r.phase(0, balance.Switched) // a query may still be under way
	r.m.Master(r.now, "m2", 1)   // it started anew, with an older map
	r.pass(balance.DefaultLinger)
	r.phase(0, balance.Switched)
	if w := r.m.Status(r.now).WaitingFor; len(w) != 1 || !strings.Contains(w[0], "master m2") {
		t.Errorf("%q", w)
	}
	r.pass(balance.DefaultMasterLease) // m2 is cut off
	r.phase(0, balance.NoMove)
}

// TestMovesThatAreGivenUp before their switch leave the slice where it is.
func TestMovesThatAreGivenUp(t *testing.T) {
	differs := func(change func(*balance.Certified)) func(*rig) {
		return func(r *rig) { r.answer(change); r.pass(time.Second) }
	}
	for name, c := range map[string]struct {
		do   func(*rig)
		text string
	}{
		"the copy differs":   {differs(func(c *balance.Certified) { c.Target.Bins[5].Lo++ }), "searches read on b differs"},
		"the source differs": {differs(func(c *balance.Certified) { c.Source.Bins[5].Count++ }), "searches read on a differs"},
		"both differ":        {differs(func(c *balance.Certified) { c.Truth.Bins[5].Hi++ }), "searches read on a and b differs"},
		"the target is lost": {func(r *rig) { r.mute["b"] = true; r.pass(balance.DefaultDeadAfter + time.Second) }, "node b is lost"},
		"the target is in trouble": {func(r *rig) {
			r.mute["b"] = true
			for range 15 {
				r.must(r.m.Report(r.now, balance.NodeReport{Name: "b", Incarnation: "1", Trouble: "disk full"}))
				r.pass(time.Second)
			}
		}, "disk full"},
		"nobody certifies": {func(r *rig) {
			for range 90 {
				if len(r.asked) > 0 {
					r.answer(func(c *balance.Certified) { c.Failed = fmt.Errorf("no way") })
				}
				r.pass(time.Second)
			}
		}, "no way"},
		"nobody answers":        {func(r *rig) { r.pass(2 * balance.DefaultStall) }, "no answer"},
		"the target is drained": {func(r *rig) { r.must(r.m.Drain(r.now, "b")); r.carry(); r.pass(time.Second) }, "node b is draining"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 4, nil, "a", "b", "c")
			r.start0()
			generation := r.slice(0).Generation
			c.do(r)
			r.phase(0, balance.NoMove)
			if s := r.slice(0); s.Node != 1 || s.Generation != generation+1 {
				t.Errorf("%+v", s)
			}
			r.wantTrouble(c.text)
			r.wantEvent("stays on a, its move to b is given up")
			if s := r.m.Status(r.now); s.Moved.Cancelled == 0 || s.Moved.Moves != 0 {
				t.Errorf("%+v", s.Moved)
			}
		})
	}
}

// TestAMoveThatIsNotFilledStalls, however often its target reports.
func TestAMoveThatIsNotFilledStalls(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.pass(balance.DefaultStall - time.Second)
	r.phase(0, balance.Copying)
	for i := range 60 { // it is being filled now
		r.must(r.m.Report(r.now, balance.NodeReport{Name: "b", Incarnation: "1", Position: balance.Position{Offset: uint64(i + 1)}}))
		r.pass(time.Second)
	}
	r.phase(0, balance.Copying)
	r.mute["b"] = true
	for range 70 {
		r.must(r.m.Report(r.now, balance.NodeReport{Name: "b", Incarnation: "1", Position: balance.Position{Offset: 60, Clock: uint64(r.now)}}))
		r.pass(time.Second)
	}
	r.phase(0, balance.NoMove)
	r.wantTrouble("node b has not got all items")
}

// TestATargetThatReturnsIsCertifiedAnew: what it had may be gone.
func TestATargetThatReturnsIsCertifiedAnew(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	r.must(r.m.Join(r.now, balance.Joining{Name: "b"})) // with an empty disk
	r.carry()
	r.answer(nil) // to the question before
	r.pass(2 * time.Second)
	r.phase(0, balance.Copying)
	if len(r.asked) != 0 {
		t.Fatalf("asked for what is not there: %+v", r.asked)
	}
	r.ackAll()
	r.answer(nil)
	r.pass(time.Second)
	r.phase(0, balance.Switched)
}

// TestASourceThatIsLost is not asked, nor waited for.
func TestASourceThatIsLost(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.mute["a"] = true
	r.pass(balance.DefaultDeadAfter + time.Second)
	r.start0()
	if len(r.asked) != 1 || r.asked[0].Source != "" || r.asked[0].Target != "b" {
		t.Fatalf("%+v", r.asked)
	}
	r.answer(nil)
	r.pass(time.Second)
	r.ackAll()
	r.pass(balance.DefaultLinger + time.Second)
	r.phase(0, balance.NoMove)
	if r.slice(0).Node != 2 {
		t.Errorf("%+v", r.slice(0))
	}
}

// TestMovesThatBecomeReadyTogetherShareAView.
func TestMovesThatBecomeReadyTogetherShareAView(t *testing.T) {
	r := newRig(t, 6, nil, "a", "b")
	for _, i := range []int{0, 2, 4} {
		r.must(r.m.Move(r.now, r.slice(i).ID, "b"))
	}
	r.carry()
	r.ackAll()
	r.slow = true
	questions := r.asked
	for _, q := range questions {
		r.asked = []balance.Certify{q}
		r.answer(nil)
	}
	r.save()
	r.slow = false
	r.pass(time.Second)
	view := uint64(0)
	for _, i := range []int{2, 4} { // the first may have gone alone
		r.phase(i, balance.Switched)
		if view != 0 && r.slice(i).From != view {
			t.Errorf("views %d and %d", view, r.slice(i).From)
		}
		view = r.slice(i).From
	}
}

// TestRestartInEachPhase: a balancer that is killed goes on where it was.
func TestRestartInEachPhase(t *testing.T) {
	finish := func(r *rig) {
		r.t.Helper()
		r.ackAll()
		r.pass(balance.DefaultMasterLease + balance.DefaultLinger + time.Second)
		r.phase(0, balance.NoMove)
		if r.slice(0).Node != 2 || r.m.Published().View() != 2 {
			r.t.Errorf("%+v", r.slice(0))
		}
	}
	t.Run("before the start is durable", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.slow = true
		r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
		r.slow = false
		r.hold = nil
		r.restart("a", "b")
		r.phase(0, balance.NoMove)
	})
	t.Run("while it is filled", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
		r.carry()
		old := r.table("a")
		r.cfg.Epoch++
		r.start()
		r.must(r.m.Join(r.now, balance.Joining{Name: "a", Table: old}))
		r.must(r.m.Join(r.now, balance.Joining{Name: "b", Table: balance.Table{View: 1}}))
		r.carry()
		if len(r.asked) != 0 {
			t.Fatal("asked before it is there")
		}
		r.ackAll()
		r.answer(nil)
		r.pass(time.Second)
		finish(r)
	})
	t.Run("while it is certified", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.start0()
		r.restart("a", "b")
		r.answer(nil)
		r.pass(time.Second)
		finish(r)
	})
	t.Run("before the switch is durable", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.start0()
		r.slow = true
		r.answer(nil)
		r.pass(time.Second)
		r.phase(0, balance.Copying)
		r.slow = false
		r.restart("a", "b")
		r.answer(nil)
		r.pass(time.Second)
		finish(r)
	})
	t.Run("after the switch", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		tables := [2]balance.Table{r.table("a"), r.table("b")}
		r.switch0()
		r.cfg.Epoch++
		r.start()
		for i, n := range []string{"a", "b"} { // they have not heard of it
			r.must(r.m.Join(r.now, balance.Joining{Name: n, Table: tables[i]}))
		}
		r.carry()
		if p := r.m.Published(); p != nil {
			t.Fatalf("view %d is published before its nodes know it", p.View())
		}
		finish(r)
	})
	t.Run("while masters have the old view", func(t *testing.T) {
		r := newRig(t, 4, nil, "a", "b")
		r.switch0()
		r.ackAll()
		r.restart("a", "b")
		r.pass(balance.DefaultMasterLease - time.Second)
		r.phase(0, balance.Switched) // some may not have come yet
		r.m.Master(r.now, "m1", 1)
		r.pass(balance.DefaultMasterLease - time.Second)
		r.phase(0, balance.Switched)
		r.m.Master(r.now, "m1", 2)
		r.pass(time.Second)
		finish(r)
	})
}

// TestTimeThatIsSetBack, or forward, ends nothing before its time and holds
// nothing up.
func TestTimeThatIsSetBack(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.pass(time.Minute)
	r.m.Master(r.now, "m1", 1)
	r.switch0()
	r.ackAll()
	for _, jump := range []time.Duration{-time.Hour, 2 * time.Hour} {
		r.now += jump
		r.m.Tick(r.now)
		r.carry()
		if next := r.m.Next(); next < r.now-time.Second || next > r.now+time.Second {
			t.Errorf("at %v the next moment is %v", r.now, next)
		}
		r.pass(time.Second)
		r.phase(0, balance.Switched)
	}
	s := r.m.Status(r.now)
	if !s.Nodes[0].Alive || !s.Nodes[1].Alive || len(s.Masters) != 1 {
		t.Errorf("somebody is taken for lost: %+v", s)
	}
	r.m.Master(r.now, "m1", 2)
	r.pass(balance.DefaultLinger)
	r.phase(0, balance.NoMove)
}
