package compare

import (
	"context"
	"errors"
	"math"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy"
	"adshard/bench/trace"
)

// mover starts the moves of a list, one entry in each iteration.
type mover struct {
	balance.Strategy
	steps [][2]uint64 // slice, shard; slice 0: nothing
	at    int
}

func (m *mover) Iterate(balance.Input) (p balance.Proposal, err error) {
	if m.at < len(m.steps) && m.steps[m.at][0] != 0 {
		p.Ops = []balance.Op{{Kind: balance.OpStart, Slice: m.steps[m.at][0], Shard: balance.ShardID(m.steps[m.at][1])}}
	}
	m.at++
	return p, nil
}

// paired returns a trace of four items on two slaves with two items each.
func paired(t *testing.T, name string) (*trace.Trace, balance.Strategy, balance.Input) {
	t.Helper()
	tr := made(4, [][]uint32{{1, 1, 1, 1}})
	s, err := strategy.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := begun(tr, s, 2)
	if err != nil {
		t.Fatal(err)
	}
	return tr, s, in
}

// TestChange checks what moves, what returns and when the load is balanced, for a strategy
// whose moves are known.
func TestChange(t *testing.T) {
	tr, s, in := paired(t, "original")
	list := in.Model.Slices()
	if len(list) != 2 {
		t.Fatalf("%d slices", len(list))
	}
	m := &mover{Strategy: s, steps: [][2]uint64{{list[0].ID, uint64(list[1].Shard)}, {}, {list[0].ID, uint64(list[0].Shard)}}}
	c, err := (&pupil{t: tr, s: m, load: []float64{1, 1, 1, 1}}).follow(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	if c.Moved != 1 || c.Back != 0.5 || c.Balanced != 3 || c.MaxOverMean != 1 || c.Iterations != 6 || !c.Rested || c.Least != 0 || c.Over() != -1 {
		t.Errorf("%+v", c)
	}
	m = &mover{Strategy: s, steps: [][2]uint64{{list[0].ID, uint64(list[1].Shard)}}}
	if c, err = (&pupil{t: tr, s: m, load: []float64{1, 1, 1, 1}}).follow(t.Context(), &in); err != nil || c.Balanced != -1 || c.MaxOverMean != 2 || c.Moved != 0.5 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestLeave: with every strategy, all that a slave has leaves it and is counted once.
func TestLeave(t *testing.T) {
	for _, name := range strategy.Names() {
		tr := spread(400)
		s, err := strategy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := begun(tr, s, 4)
		if err != nil {
			t.Fatal(err)
		}
		load := make([]float64, len(tr.Keys))
		for i := range load {
			load[i] = 1
		}
		c, err := (&pupil{t: tr, s: s, load: load}).changed(t.Context(), in, func(e *balance.Edit) error { return e.SetState(1, balance.Draining) })
		if err != nil {
			t.Fatal(err)
		}
		if c.Moved < c.Least*(1-1e-9) || c.Least <= 0 || math.IsNaN(c.MaxOverMean) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestNights: the strategy original moves nothing as long as owners' weights stay the same,
// and plans anew, once, in the night after a slave was added or removed.
func TestNights(t *testing.T) {
	tr, load := owned(1), make([]float64, nightOwners)
	s, err := strategy.Named("original")
	if err != nil {
		t.Fatal(err)
	}
	in, err := begun(tr, s, 4)
	if err != nil {
		t.Fatal(err)
	}
	u := &pupil{t: tr, s: s, load: load}
	if c, err := u.follow(t.Context(), &in); err != nil || c.Moved != 0 || !c.Rested {
		t.Errorf("at first %+v, %v", c, err)
	}
	join := func(e *balance.Edit) error { _, err := e.Join("late", balance.Site{}); return err }
	leave := func(e *balance.Edit) error { return e.SetState(1, balance.Draining) }
	for what, edit := range map[string]func(*balance.Edit) error{"joined": join, "left": leave} {
		if c, err := u.changed(t.Context(), in, edit); err != nil || c.Moved < 0.3 || c.Moved > 1.3 || !c.Rested {
			t.Errorf("after a slave has %s %+v, %v", what, c, err)
		}
	}
}

// drawn returns a given number of items that the strategy random has placed on four slaves.
func drawn(t *testing.T, items int) (*trace.Trace, balance.Strategy, balance.Input) {
	t.Helper()
	tr := spread(items)
	s, err := strategy.Named("random")
	if err != nil {
		t.Fatal(err)
	}
	in, err := begun(tr, s, 4)
	if err != nil {
		t.Fatal(err)
	}
	return tr, s, in
}

// TestLeaveWithinBudget: slices leave in steps of at most what may move at once.
func TestLeaveWithinBudget(t *testing.T) {
	tr, s, in := drawn(t, 1000)
	e := in.Model.Edit()
	if err := e.SetState(1, balance.Draining); err != nil {
		t.Fatal(err)
	}
	m, err := e.Model()
	if err != nil {
		t.Fatal(err)
	}
	in.Model = m
	v := settling{t: tr, load: make([]float64, len(tr.Keys)), s: s, rest: rest, empties: true, seen: func(before, after Placement) {
		moved := 0
		for i := range after.Owner {
			if before.Owner[i] != after.Owner[i] {
				moved++
			}
		}
		if moved > 90 {
			t.Errorf("%d of 1,000 moved at once", moved)
		}
	}}
	if err := v.run(t.Context(), &in); err != nil {
		t.Fatal(err)
	}
	for _, s := range in.Model.Slices() {
		if s.Shard == 1 {
			t.Error("something is left")
		}
	}
}

// TestInterrupted: an interrupted study ends before the strategy rests.
func TestInterrupted(t *testing.T) {
	tr, s, in := drawn(t, 100)
	ctx, cancel := context.WithCancel(t.Context())
	iterations := 0
	v := settling{t: tr, load: make([]float64, len(tr.Keys)), s: s, rest: maxIterations, seen: func(_, _ Placement) {
		iterations++
		cancel()
	}}
	if err := v.run(ctx, &in); !errors.Is(err, context.Canceled) || iterations != 1 {
		t.Errorf("%v after %d iterations", err, iterations)
	}
}

// TestIteration: what is measured is one iteration of the stated size.
func TestIteration(t *testing.T) {
	for _, order := range []balance.Order{balance.ByHash, balance.ByOwner} {
		in, err := crowd(order, size{10_000, 1000, 10})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(in.Model.Slices()); n != 1000 || in.Items.Len() != 10_000 || in.Order != order {
			t.Errorf("%d slices, %d items, by %s", n, in.Items.Len(), in.Order)
		}
		hottest := 0
		in.Loads.Hot(0, balance.MaxKey, func(balance.Key, float64) bool { hottest++; return true })
		if hottest != min(10_000, load.MaxHot) {
			t.Errorf("%d items have loads of their own", hottest)
		}
	}
}

// TestIterations: each strategy is measured on an input for which it does something.
func TestIterations(t *testing.T) {
	list, err := iterations(t.Context(), nil, strategy.Names(), size{10_000, 1000, 10}, func(string) {})
	if err != nil || len(list) != len(strategy.Names()) {
		t.Fatalf("%d of %d strategies: %v", len(list), len(strategy.Names()), err)
	}
	for _, v := range list {
		if v.Allocated <= 0 || v.Ops == 0 || v.Least > v.Seconds || v.Seconds > v.Most {
			t.Errorf("%+v", v)
		}
	}
}
