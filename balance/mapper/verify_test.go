package mapper_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// TestNobodyWaitsForACancelledMove: a question about a cancelled move no longer occupies a
// place, and a late answer has no effect.
func TestNobodyWaitsForACancelledMove(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.start0()
	q := r.asked[0]
	if !r.m.Awaits(q.Seq) {
		t.Fatal("nobody waits for the answer")
	}
	r.mute["b"] = true
	r.pass(12 * time.Second)
	r.phase(0, balance.NoMove)
	if r.m.Awaits(q.Seq) {
		t.Error("the answer is still waited for")
	}
	r.events, r.asked = nil, []balance.Certify{q}
	r.answer(func(c *balance.Certified) { c.Target.Bins[3].Lo++ })
	for _, text := range r.events {
		if strings.Contains(text, "slice 1") {
			t.Errorf("%q", text)
		}
	}
}

// TestAFailedQuestionHoldsUpNoOther: a failed question is asked again after a while, a question
// about the next slice at once.
func TestAFailedQuestionHoldsUpNoOther(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.start0()
	r.answer(func(c *balance.Certified) { c.Failed = errors.New("the disk is slow") })
	other := r.slice(3).ID
	r.must(r.m.Move(r.now, other, "b"))
	r.carry()
	r.ackAll()
	if len(r.asked) != 1 || r.asked[0].Slice != other {
		t.Errorf("%+v", r.asked)
	}
	r.asked = nil
	r.pass(1200 * time.Millisecond)
	if len(r.asked) != 1 || r.asked[0].Slice != r.slice(0).ID {
		t.Errorf("%+v", r.asked)
	}
}

// TestAFailedQuestionIsAskedAlone: a failed question is asked alone until it is answered,
// because it may be the reason why others that were asked together with it failed.
func TestAFailedQuestionIsAskedAlone(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.start0()
	r.answer(func(c *balance.Certified) { c.Failed = errors.New("the disk is slow") })
	r.pass(1200 * time.Millisecond)
	if len(r.asked) != 1 || !r.asked[0].Alone {
		t.Fatalf("asked %+v", r.asked)
	}
	lo, hi := r.asked[0].Lo, r.asked[0].Hi
	r.answer(func(c *balance.Certified) { c.Target.Bins[balance.Bin(rigKey(1))].Lo++ })
	r.pass(time.Second)
	if len(r.asked) != 1 || r.asked[0].Alone || r.asked[0].Lo != lo || r.asked[0].Hi != hi {
		t.Errorf("asked %+v after an answer", r.asked)
	}
}

// TestWhatMustMoveIsComparedFirst: a slave is emptied while a strategy has more moves in
// progress than can be compared at once. Of large slices, fewer can.
func TestWhatMustMoveIsComparedFirst(t *testing.T) {
	for _, c := range []struct {
		slices      int
		weight      uint32 // of each item
		needed, all int
	}{{300, 10, 48, 64}, {90, 10_000, 12, 16}} {
		needed, all := comparedWhileDrained(t, c.slices, c.weight)
		if needed != c.needed || all != c.all {
			t.Errorf("items of weight %d: %d of %d questions are about what leaves c, want %d of %d", c.weight, needed, all, c.needed, c.all)
		}
	}
}

// comparedWhileDrained returns the number of questions in progress, and the number of needed
// ones among them.
func comparedWhileDrained(t *testing.T, slices int, weight uint32) (needed, all int) {
	proposed := false
	r := newRig(t, slices, func(c *cluster.Config) {
		c.Interval = time.Minute
		c.Strategy = stubborn{
			initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, slices) },
			iterate: func(in balance.Input) (balance.Proposal, error) {
				e := in.Model.Edit()
				for _, s := range in.Model.Slices() {
					if sh, _ := in.Model.Shard(s.Shard); sh.Name == "a" && !proposed {
						if err := e.Start(s.ID, in.Model.Shards()[1].ID); err != nil {
							return balance.Proposal{}, err
						}
					}
				}
				proposed = true
				return balance.Proposal{Ops: e.Ops()}, nil
			},
		}
	}, "a", "b", "c")
	for n := uint64(1); n < 256; n++ { // so that there are some in every slice, if it is wide enough
		r.index.Put(rigKey(n), weight)
	}
	for r.pass(time.Second); len(r.asked) == 0; r.pass(time.Second) {
		r.ackAll()
	}
	r.must(r.m.Drain(r.now, "c"))
	r.carry()
	r.pass(time.Second)
	r.ackAll()
	before := r.asked
	r.asked = nil
	for _, q := range before {
		r.answerTo(q, nil)
	}
	r.pass(time.Second)
	for _, q := range r.asked {
		if q.Source == "c" {
			needed++
		}
	}
	return needed, len(r.asked)
}

// TestALargeItemHasTime: a large item is compared by itself, and neither the question nor its
// move is given up while it may still succeed.
func TestALargeItemHasTime(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b")
	r.index.Put(rigKey(5), 450_000)
	r.start0()
	var large balance.Certify
	for range 10 {
		if len(r.asked) == 0 {
			r.pass(time.Second)
			continue
		}
		q := r.asked[0]
		if q.Lo <= rigKey(5) && rigKey(5) <= q.Hi {
			large = q
			break
		}
		if q.Within != 30*time.Second {
			t.Errorf("a question about small items may take %v", q.Within)
		}
		r.answer(nil)
	}
	if large.Hi != rigKey(5) || large.Lo <= rigKey(4) || large.Within != 15*time.Minute {
		t.Fatalf("the large item is asked about by %+v", large)
	}
	r.asked = nil
	r.pass(14 * time.Minute)
	if !r.m.Awaits(large.Seq) || len(r.asked) > 0 {
		t.Fatalf("the answer is not awaited; asked %+v; %s", r.asked, strings.Join(r.events, "\n"))
	}
	r.answerTo(large, nil)
	for range 10 {
		if r.slice(0).Move.Phase == balance.Copying {
			r.pass(time.Second)
			if len(r.asked) > 0 {
				r.answer(nil)
			}
		}
	}
	r.phase(0, balance.Switched)
}

// TestALargeItemThatIsThereGivesNoTime: once a large item has arrived, or was compared, a move
// without progress is cancelled like any other; until then, no move to the same slave is
// cancelled.
func TestALargeItemThatIsThereGivesNoTime(t *testing.T) {
	begun := func(offset uint64) *rig {
		r := newRig(t, 8, nil, "a", "b")
		r.index.Put(rigKey(5), 1_000_000)
		for _, i := range []int{0, 2} {
			r.must(r.m.Move(r.now, r.slice(i).ID, "b"))
		}
		r.carry()
		b := r.table("b")
		b.Slices = slices.Clone(b.Slices)
		for i, h := range b.Slices {
			if h.From == 0 {
				b.Slices[i].State = balance.Filling
			}
		}
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Position: balance.Position{Clock: r.clock, Offset: offset}, Table: &b}))
		r.carry()
		r.mute["b"] = true
		for range 2 * cluster.DefaultStall / time.Second {
			r.pass(time.Second)
			r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Position: balance.Position{Clock: r.clock, Offset: offset}}))
			r.carry()
		}
		return r
	}
	hung := begun(uint64(rigKey(6)))
	hung.phase(0, balance.NoMove)
	hung.phase(2, balance.NoMove)
	patient := begun(uint64(rigKey(4)))
	patient.phase(0, balance.Copying)
	patient.phase(2, balance.Copying)

	r := newRig(t, 8, nil, "a", "b")
	r.index.Put(rigKey(1), 1_000_000)
	r.start0()
	r.answer(nil) // for the large item
	r.pass(time.Second)
	r.asked = nil
	r.pass(2 * cluster.DefaultStall)
	r.phase(0, balance.NoMove)
}

// TestWhatMustMoveIsNeededAfterARestart: what must move is still needed after a restart of the
// balancer, which has not saved why it moves.
func TestWhatMustMoveIsNeededAfterARestart(t *testing.T) {
	r := newRig(t, 9, nil, "a", "b", "c")
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.must(r.m.Drain(r.now, "c"))
	r.carry()
	r.pass(time.Second)
	r.restart("a", "b", "c")
	r.ackAll()
	r.pass(time.Second)
	needed := 0
	for _, q := range r.asked {
		if q.Needed != (q.Source == "c") {
			t.Errorf("slice %d of %s is needed: %v", q.Slice, q.Source, q.Needed)
		}
		if q.Needed {
			needed++
		}
	}
	if needed == 0 {
		t.Errorf("nothing is needed: %+v", r.asked)
	}
}

// TestPausedMovesAreNeeded: during a pause, the moves of the strategy are needed, because the
// pause waits for their end.
func TestPausedMovesAreNeeded(t *testing.T) {
	r := newRig(t, 9, func(c *cluster.Config) {
		c.Interval = time.Minute
		c.Strategy = stubborn{
			initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 9) },
			iterate: func(in balance.Input) (balance.Proposal, error) {
				e := in.Model.Edit()
				err := e.Start(in.Model.Slices()[0].ID, in.Model.Shards()[1].ID)
				return balance.Proposal{Ops: e.Ops()}, err
			},
		}
	}, "a", "b", "c")
	for range 100 {
		if r.pass(time.Second); r.slice(0).Move.Phase == balance.Copying {
			break
		}
	}
	r.ackAll()
	r.pass(time.Second)
	r.answer(func(c *balance.Certified) { c.Failed = errors.New("the disk is slow") })
	r.m.Pause(true)
	r.pass(2 * time.Second)
	if len(r.asked) != 1 || !r.asked[0].Needed {
		t.Fatalf("asked %+v", r.asked)
	}
}

// TestOthersAreComparedToo: while more slices must leave their slave than can be compared at
// once, slices that need not move go on as well.
func TestOthersAreComparedToo(t *testing.T) {
	propose := false
	r := newRig(t, 300, func(c *cluster.Config) {
		c.Interval = 2 * time.Second
		c.Strategy = stubborn{
			initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 300) },
			iterate: func(in balance.Input) (balance.Proposal, error) {
				e := in.Model.Edit()
				for _, s := range in.Model.Slices() {
					if sh, _ := in.Model.Shard(s.Shard); sh.Name == "a" && propose && s.Move.Phase == balance.NoMove {
						if err := e.Start(s.ID, in.Model.Shards()[1].ID); err != nil {
							return balance.Proposal{}, err
						}
					}
				}
				propose = false
				return balance.Proposal{Ops: e.Ops()}, nil
			},
		}
	}, "a", "b", "c")
	r.must(r.m.Drain(r.now, "c"))
	r.carry()
	r.pass(time.Second)
	r.ackAll() // all data of c have arrived and are to be compared
	propose = true
	r.pass(3 * time.Second)
	r.ackAll() // and all data of a
	needed, others := 0, 0
	for range 40 {
		q := r.asked[0]
		r.asked = r.asked[1:]
		r.answerTo(q, nil)
	}
	for _, q := range r.asked {
		if q.Needed {
			needed++
		} else {
			others++
		}
	}
	if needed < 48 || others < 16 {
		t.Errorf("%d questions under way are needed, %d are not", needed, others)
	}
}
