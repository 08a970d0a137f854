package strategy_test

import (
	"testing"

	"adshard/balance"
)

// arriving lists the strategies that give a joining shard the arcs of its tokens.
var arriving = []string{"rao-pool", "cassandra", "srinivasan"}

// turn asks a strategy once, with exact loads; the strategy may not use the shard
// `refused`.
func (l *loop) turn(s balance.Strategy, refused balance.ShardID) {
	l.t.Helper()
	in := l.exact()
	l.iteration++
	in.Iteration = l.iteration
	in.May = func(_ uint64, to balance.ShardID) (bool, string) { return to != refused, "it is lost" }
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

// wantItems checks that a strategy gives a shard something within some iterations.
func (l *loop) wantItems(s balance.Strategy, shard balance.ShardID) {
	l.t.Helper()
	for range 10 {
		l.turn(s, 0)
		for _, id := range l.owners() {
			if id == shard {
				return
			}
		}
	}
	l.t.Errorf("%s: shard %d stays empty", s.Name(), shard)
}

// TestAShardThatWasEmptiedArrivesAgain: a shard that was emptied gets its arcs again when
// it is active again.
func TestAShardThatWasEmptiedArrivesAgain(t *testing.T) {
	for _, name := range arriving {
		l, s := placed(t, name, nil, 10, 1000, nil)
		l.turn(s, 0)
		e := l.m.Edit()
		if err := e.SetState(2, balance.Draining); err != nil {
			t.Fatal(err)
		}
		for _, v := range l.m.Slices() {
			if v.Shard != 2 {
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

// TestAShardThatMayNotArriveYetDoesLater: a shard that may take nothing in the iteration
// after it has joined gets its arcs later.
func TestAShardThatMayNotArriveYetDoesLater(t *testing.T) {
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
