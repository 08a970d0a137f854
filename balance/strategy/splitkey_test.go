package strategy_test

import (
	"errors"
	"testing"

	"adshard/balance"
	"adshard/balance/load"
)

// lukewarm is a load of many items, none of which is known separately: nine tenths of
// it are on the last tenth of the first shard's keys.
type lukewarm struct {
	m     *balance.Model
	items *balance.Index
	loads map[balance.Key]float64
}

func (l *lukewarm) Measured() bool                                          { return true }
func (l *lukewarm) Hot(_, _ balance.Key, _ func(balance.Key, float64) bool) {}

// Slice implements balance.Loads.
func (l *lukewarm) Slice(id uint64) float64 {
	for _, s := range l.m.Slices() {
		if s.ID == id {
			return l.between(s.Lo, s.Hi)
		}
	}
	return 0
}

func (l *lukewarm) between(lo, hi balance.Key) (sum float64) {
	l.items.Ascend(lo, hi, func(k balance.Key, _ uint32) bool {
		sum += l.loads[k]
		return true
	})
	return sum
}

// splitKey returns the exact split key of a slice.
func (l *lukewarm) splitKey(id uint64) (key balance.Key) {
	for _, s := range l.m.Slices() {
		if s.ID == id {
			half, sum := l.Slice(id)/2, 0.0
			l.items.Ascend(s.Lo, s.Hi, func(k balance.Key, _ uint32) bool {
				sum, key = sum+l.loads[k], k
				return sum < half
			})
		}
	}
	return key
}

func newLukewarm(t *testing.T, shardsCount int) *lukewarm {
	base, err := balance.NewModel(shards(shardsCount))
	if err != nil {
		t.Fatal(err)
	}
	e := base.Edit()
	at := uint64(1)
	for n := 1; n < shardsCount; n++ {
		right, err := e.Split(at, balance.MaxKey/balance.Key(shardsCount)*balance.Key(n))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Map(right, balance.ShardID(n+1)); err != nil {
			t.Fatal(err)
		}
		at = right
	}
	l := &lukewarm{m: model(t, e), items: &balance.Index{}, loads: map[balance.Key]float64{}}
	first := l.m.Slices()[0]
	for i := range uint64(4000) {
		k, _ := balance.ByHash.Key(1, i+1)
		l.items.Put(k, 1)
		l.loads[k] = 1
		if k <= first.Hi && k > first.Hi/10*9 {
			l.loads[k] = 81
		}
	}
	return l
}

func (l *lukewarm) input(splitKeys bool) balance.Input {
	in := balance.Input{Model: l.m, Items: l.items, Order: balance.ByHash, Loads: l, Budget: balance.Budget{Share: 1}}
	if splitKeys {
		in.SplitKey = l.splitKey
	}
	return in
}

// TestSplitsAtTheSplitKey: a slice whose items are not known separately is split at
// the key that its slave reports, which halves its load; without a split key, the
// weights decide.
func TestSplitsAtTheSplitKey(t *testing.T) {
	published := profiles(t)[0]
	for _, known := range []bool{true, false} {
		l := newLukewarm(t, 2)
		first := l.m.Slices()[0]
		p, err := published.Iterate(l.input(known))
		if err != nil {
			t.Fatal(err)
		}
		var left float64
		for _, o := range p.Ops {
			if o.Kind == balance.OpSplit && o.Slice == first.ID {
				left = l.between(first.Lo, o.At-1) / l.Slice(first.ID)
			}
		}
		if halved := left > 0.45 && left < 0.55; halved != known {
			t.Errorf("split keys known %v: the left half of slice %d has %.2f of the load, operations %v", known, first.ID, left, p.Ops)
		}
	}
}

// TestSplitKeysSaveIterations: with split keys, both profiles come to rest in fewer
// iterations than with weights only, and equally balanced.
func TestSplitKeysSaveIterations(t *testing.T) {
	for _, s := range profiles(t) {
		without, ratioWithout := newLukewarm(t, 4).rest(t, s, false)
		with, ratio := newLukewarm(t, 4).rest(t, s, true)
		t.Logf("%s: %d iterations to max/mean %.3f, without split keys %d to %.3f", s.Name(), with, ratio, without, ratioWithout)
		if with >= without || ratio > 1.12 {
			t.Errorf("%s: %d iterations to max/mean %.3f, without split keys %d to %.3f", s.Name(), with, ratio, without, ratioWithout)
		}
	}
}

// rest asks a strategy until it proposes nothing more, each time as soon as all moves
// have ended. It returns how often the strategy proposed something, and max/mean at
// the end.
func (l *lukewarm) rest(t *testing.T, s balance.Strategy, splitKeys bool) (iterations int, ratio float64) {
	t.Helper()
	for ; iterations < 40; iterations++ {
		in := l.input(splitKeys)
		p, err := s.Iterate(in)
		if err != nil {
			t.Fatal(err)
		}
		ratio = load.Evenness(in).Ratio()
		if len(p.Ops) == 0 {
			break
		}
		if l.m, err = l.m.Apply(p.Ops); err != nil {
			t.Fatal(err)
		}
		e := l.m.Edit()
		for _, v := range l.m.Slices() {
			if v.Move.Phase == balance.Copying {
				if err := errors.Join(e.Switch(v.ID), e.Finish(v.ID)); err != nil {
					t.Fatal(err)
				}
			}
		}
		l.m = model(t, e)
	}
	return iterations, ratio
}
