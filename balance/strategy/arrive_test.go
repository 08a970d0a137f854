package strategy_test

import (
	"testing"

	"adshard/balance"
)

// arriving are strategies that give a node that joins the arcs of its tokens.
var arriving = []string{"rao-pool", "cassandra", "srinivasan"}

// turn asks a strategy once, with exact loads; it may not use a node that is refused.
func (l *loop) turn(s balance.Strategy, refused balance.NodeID) {
	l.t.Helper()
	in := l.exact()
	l.iteration++
	in.Iteration = l.iteration
	in.May = func(_ uint64, to balance.NodeID) (bool, string) { return to != refused, "it is lost" }
	p, err := s.Iterate(in)
	if err != nil {
		l.t.Fatal(err)
	}
	next, err := l.m.Apply(p.Ops)
	if err != nil {
		l.t.Fatal(err)
	}
	l.memory = p.Memory
	l.settle(next, p)
}

// wantItems lets a strategy give a node something.
func (l *loop) wantItems(s balance.Strategy, node balance.NodeID) {
	l.t.Helper()
	for range 10 {
		l.turn(s, 0)
		for _, n := range l.owners() {
			if n == node {
				return
			}
		}
	}
	l.t.Errorf("%s: node %d stays empty", s.Name(), node)
}

// TestANodeThatWasEmptiedArrivesAgain when it is active again.
func TestANodeThatWasEmptiedArrivesAgain(t *testing.T) {
	for _, name := range arriving {
		l, s := placed(t, name, nil, 10, 1000, nil)
		l.turn(s, 0)
		e := l.m.Edit()
		if err := e.SetState(2, balance.Draining); err != nil {
			t.Fatal(err)
		}
		for _, v := range l.m.Slices() {
			if v.Node != 2 {
				continue
			}
			for _, err := range []error{e.Start(v.ID, 3), e.Switch(v.ID), e.Finish(v.ID)} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		l.m = model(t, e)
		l.table.Model(l.m, l.items)
		l.turn(s, 2)
		e = l.m.Edit()
		if err := e.SetState(2, balance.Active); err != nil {
			t.Fatal(err)
		}
		l.m = model(t, e)
		l.wantItems(s, 2)
	}
}

// TestANodeThatMayNotArriveYetDoesLater: in the iteration after it has joined it may take
// nothing.
func TestANodeThatMayNotArriveYetDoesLater(t *testing.T) {
	for _, name := range arriving {
		l, s := placed(t, name, nil, 10, 1000, nil)
		e := l.m.Edit()
		id, err := e.Join("late", balance.Site{})
		if err != nil {
			t.Fatal(err)
		}
		l.m = model(t, e)
		l.turn(s, id)
		l.wantItems(s, id)
	}
}
