package balance

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"adshard/barrels/certify"
	"adshard/fault"
)

// drawEdit makes random operations, valid and invalid, on a model.
func drawEdit(t *rapid.T, m *Model) *Edit {
	e := m.Edit()
	slice := rapid.Custom(func(t *rapid.T) uint64 { return rapid.Uint64Range(1, e.nextS).Draw(t, "slice") })
	shard := rapid.Map(rapid.Uint32Range(0, 5), func(n uint32) ShardID { return ShardID(n) })
	for range rapid.IntRange(0, 30).Draw(t, "ops") {
		s, id := slice.Draw(t, "slice"), shard.Draw(t, "shard")
		switch rapid.IntRange(0, 9).Draw(t, "op") {
		case 0:
			_, _ = e.Split(s, Key(rapid.Uint64().Draw(t, "at")))
		case 1:
			_ = e.Map(s, id)
		case 2:
			_ = e.Merge(s, slice.Draw(t, "right"))
		case 3:
			_, _ = e.Join(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"), Site{})
		case 4:
			anySlave(t, e, id)
		case 5:
			_ = e.Start(s, id)
		case 6:
			_ = e.Cancel(s)
		case 7:
			_ = e.Switch(s)
		case 8:
			_ = e.Finish(s)
		case 9:
			_ = e.SetState(id, ShardState(rapid.IntRange(0, 3).Draw(t, "state")))
		}
	}
	return e
}

// TestEditsKeepTheModelSound: whatever is tried, the resulting model tiles the
// ring with known shards. Replaying the operations gives the same model, and so
// does decoding its bytes.
func TestEditsKeepTheModelSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			e := drawEdit(t, m)
			next, err := e.Model()
			if err != nil {
				t.Fatal(err)
			}
			again, err := m.Apply(e.Ops())
			if err != nil || !reflect.DeepEqual(next, again) {
				t.Fatalf("replayed %v: %+v, wanted %+v, %v", e.Ops(), again, next, err)
			}
			if next.View() < m.View() {
				t.Fatalf("view %d after %d", next.View(), m.View())
			}
			checkCoverage(t, next)
			state := State{Quantum: 7, Model: next}
			back, err := DecodeState(state.Encode())
			if err != nil || !reflect.DeepEqual(back, state) {
				t.Fatalf("back from bytes: %+v, %v", back, err)
			}
			m = next
		}
	})
}

// checkCoverage checks that, in every view that may be asked for, each key is
// served by exactly one shard, and that only slices that move are held twice.
func checkCoverage(t *rapid.T, m *Model) {
	for i := range 20 {
		k := Key(certify.Mix(uint64(i)))
		s := m.At(k)
		if k < s.Lo || k > s.Hi {
			t.Fatalf("%x is said to lie in %+v", k, s)
		}
		for view := max(1, m.Least()); view <= m.View(); view++ {
			if n := servers(m, k, view); n != 1 {
				t.Fatalf("%x is served by %d shards in view %d: %+v", k, n, view, s)
			}
		}
		holders := 0
		for _, sh := range m.Shards() {
			if Contains(m.Table(sh.ID).Coverage(), k) {
				holders++
			}
		}
		if (holders != 1) != (s.Move.Phase != NoMove) || holders > 2 {
			t.Fatalf("%x lies on %d shards: %+v", k, holders, s)
		}
	}
}

// servers returns the number of shards that serve a key in a view.
func servers(m *Model, k Key, view uint64) (n int) {
	for _, shard := range m.Shards() {
		for _, h := range m.Table(shard.ID).Slices {
			if h.Lo <= k && k <= h.Hi && h.From != 0 && h.From <= view && (h.Until == 0 || view <= h.Until) {
				n++
			}
		}
	}
	return n
}

// TestLifeOfAMove: a slice is held by both shards, then served by one up to a
// view and by the other from the next view on, and then the first one releases
// it.
func TestLifeOfAMove(t *testing.T) {
	m, _ := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
	m, err := m.Apply(nil)
	if err != nil {
		t.Fatal(err)
	}
	step := func(op Op, a, b []Held) {
		t.Helper()
		next, err := m.Apply([]Op{op})
		if err != nil {
			t.Fatal(err)
		}
		m = next
		for id, want := range map[ShardID][]Held{1: a, 2: b} {
			if got := m.Table(id); !reflect.DeepEqual(got.Slices, want) || got.View != m.View() || got.Least != m.Least() {
				t.Errorf("%v: shard %d has %+v, wanted %+v", op, id, got, want)
			}
		}
	}
	all := Held{ID: 1, Hi: MaxKey}
	with := func(generation, from, until uint64) []Held {
		h := all
		h.Generation, h.From, h.Until = generation, from, until
		return []Held{h}
	}
	step(Op{Kind: OpStart, Slice: 1, Shard: 2}, with(2, 1, 0), with(2, 0, 0))
	step(Op{Kind: OpCancel, Slice: 1}, with(3, 1, 0), nil)
	step(Op{Kind: OpStart, Slice: 1, Shard: 2}, with(4, 1, 0), with(4, 0, 0))
	step(Op{Kind: OpSwitch, Slice: 1}, with(5, 1, 1), with(5, 2, 0))
	if m.View() != 2 || m.Least() != 0 {
		t.Errorf("view %d, least %d", m.View(), m.Least())
	}
	step(Op{Kind: OpFinish, Slice: 1}, nil, with(5, 2, 0))
	if m.View() != 2 || m.Least() != 2 {
		t.Errorf("view %d, least %d", m.View(), m.Least())
	}
	step(Op{Kind: OpState, Shard: 1, State: Drained}, nil, with(5, 2, 0))
}

// TestMergesThatWouldLoseAView: a query with an older view must find both
// halves where they were, so such merges are refused.
func TestMergesThatWouldLoseAView(t *testing.T) {
	m, _ := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
	m, err := m.Apply([]Op{{Kind: OpSplit, Slice: 1, At: 5, New: 2}, {Kind: OpMap, Slice: 2, Shard: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		op Op
		ok bool
	}{
		{Op{Kind: OpStart, Slice: 2, Shard: 1}, true},
		{Op{Kind: OpMerge, Slice: 1, New: 2}, false}, // on different shards, and locked
		{Op{Kind: OpSplit, Slice: 2, At: 9, New: 3}, false},
		{Op{Kind: OpStart, Slice: 2, Shard: 1}, false},
		{Op{Kind: OpState, Shard: 1, State: Drained}, false},
		{Op{Kind: OpSwitch, Slice: 2}, true},
		{Op{Kind: OpMerge, Slice: 1, New: 2}, false}, // is still moving
		{Op{Kind: OpCancel, Slice: 2}, false},        // nothing can be cancelled after the switch
		{Op{Kind: OpFinish, Slice: 2}, true},
		{Op{Kind: OpFinish, Slice: 2}, false},
		{Op{Kind: OpMerge, Slice: 1, New: 2}, true}, // all earlier views have ended
		{Op{Kind: OpState, Shard: 2, State: Draining}, true},
		{Op{Kind: OpStart, Slice: 1, Shard: 2}, false},
	} {
		next, err := m.Apply([]Op{o.op})
		if (err == nil) != o.ok {
			t.Fatalf("%v: %v", o.op, err)
		}
		if err == nil {
			m = next
		}
	}
}

func TestBadOpsAreRefusedWhole(t *testing.T) {
	m, _ := NewModel([]Shard{{Name: "a"}})
	for _, ops := range [][]Op{
		{{Kind: OpSplit, Slice: 1, At: 5, New: 2}, {Kind: OpMap, Slice: 2, Shard: 9}},
		{{Kind: OpSplit, Slice: 1, At: 5, New: 3}},
		{{Kind: OpSplit, Slice: 1, At: 0, New: 2}},
		{{Kind: OpMerge, Slice: 1, New: 2}},
		{{Kind: OpJoin, Shard: 2, Name: "a"}},
		{{Kind: 99}},
		{{Kind: OpStart, Slice: 1, Shard: 1}}, // before the first plan
		{{Kind: OpState, Shard: 1, State: 7}},
	} {
		if next, err := m.Apply(ops); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v gave %v, %v", ops, next, err)
		}
	}
	if _, err := NewModel(nil); err == nil {
		t.Error("a model without shards")
	}
	if _, err := NewModel([]Shard{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("two shards with one name")
	}
}

func FuzzDecodeState(f *testing.F) {
	m, _ := NewModel([]Shard{{Name: "a"}})
	good := State{Quantum: 3, Model: m}.Encode()
	f.Add(good)
	f.Add(good[:len(good)-1])
	moving, _ := NewModel([]Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	for _, o := range []Op{
		{Kind: OpSplit, Slice: 1, At: 1 << 62, New: 2}, {Kind: OpStart, Slice: 1, Shard: 2}, {Kind: OpStart, Slice: 2, Shard: 3},
		{Kind: OpSwitch, Slice: 1}, {Kind: OpState, Shard: 3, State: Draining},
	} {
		next, err := moving.Apply([]Op{o})
		if err != nil {
			f.Fatal(err)
		}
		moving = next
	}
	f.Add(State{Quantum: 9, Model: moving}.Encode())
	f.Add(State{Quantum: 9, Model: moving, Memories: []StrategyMemory{{Strategy: "s", InUse: true, Bytes: []byte{7}}}}.Encode())
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeState(b)
		if err != nil {
			if k := fault.KindOf(err); k != fault.Corrupt && k != fault.Version {
				t.Fatalf("kind %v", k)
			}
			return
		}
		if err := s.Model.check(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkModelApply100kSlices(b *testing.B) {
	m, _ := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
	e := m.Edit()
	last := uint64(1)
	for i := Key(1); i < 100_000; i++ {
		last, _ = e.Split(last, i<<40)
	}
	m, err := e.Model()
	if err != nil {
		b.Fatal(err)
	}
	ops := []Op{{Kind: OpStart, Slice: 5, Shard: 2}}
	for b.Loop() {
		if _, err := m.Apply(ops); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOneShardInAView: one edit cannot give a slice two shards, because all
// changes of an edit share a view.
func TestOneShardInAView(t *testing.T) {
	m, err := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Apply([]Op{{Kind: OpMap, Slice: 1, Shard: 1}}); err != nil {
		t.Fatal(err)
	}
	e := m.Edit()
	if err := errors.Join(e.Start(1, 2), e.Switch(1), e.Finish(1), e.Start(1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := e.Switch(1); err == nil {
		t.Error("switched twice in a view")
	}
	if _, err := e.Model(); err != nil {
		t.Error(err)
	}
}

// anySlave applies a random operation on the list of slaves.
func anySlave(t *rapid.T, e *Edit, shard ShardID) {
	name := rapid.SampledFrom([]string{"a", "b", "x", "y", "spare"}).Draw(t, "slave")
	switch rapid.IntRange(0, 9).Draw(t, "slave op") {
	case 0:
		_ = e.Enlist(name, Site{Address: "here", Zone: "zone", Instance: 1}, rapid.Bool().Draw(t, "holds"))
	case 1:
		_ = e.Place(name, Site{Address: "there", Instance: rapid.Uint64Range(0, 1).Draw(t, "instance")})
	case 2:
		_, _ = e.Form(name)
	case 3:
		_ = e.Assign(name, shard)
	case 4:
		_ = e.Enter(name)
	case 5:
		_ = e.Leave(name)
	case 6:
		_ = e.Release(name)
	case 7:
		_ = e.Free(name)
	case 8:
		_ = e.Retire(name, rapid.Bool().Draw(t, "drained"))
	case 9:
		_ = e.Forget(name)
	}
}
