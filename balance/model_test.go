package balance

import (
	"reflect"
	"testing"

	"adshard/fault"
	"pgregory.net/rapid"
)

// drawEdit makes random operations, good and bad, on a model.
func drawEdit(t *rapid.T, m *Model) *Edit {
	e := m.Edit()
	for range rapid.IntRange(0, 30).Draw(t, "ops") {
		s := rapid.Uint64Range(1, e.nextS).Draw(t, "slice")
		switch rapid.IntRange(0, 4).Draw(t, "op") {
		case 0:
			_, _ = e.Split(s, Key(rapid.Uint64().Draw(t, "at")))
		case 1:
			_ = e.Map(s, NodeID(rapid.Uint32Range(0, 5).Draw(t, "node")))
		case 2:
			_ = e.Merge(s, rapid.Uint64Range(1, e.nextS).Draw(t, "right"))
		case 3:
			_, _ = e.Join(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"), "")
		case 4:
			_ = e.Address(NodeID(rapid.Uint32Range(0, 5).Draw(t, "node")), "there")
		}
	}
	return e
}

// TestEditsKeepTheModelSound: whatever is tried, what comes out tiles the ring
// on known nodes; replaying the operations gives the same; bytes give it back.
func TestEditsKeepTheModelSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := NewModel([]Node{{Name: "a"}, {Name: "b"}})
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

func checkCoverage(t *rapid.T, m *Model) {
	for i := range 20 {
		k := Key(mix64(uint64(i)))
		s := m.At(k)
		if k < s.Lo || k > s.Hi {
			t.Fatalf("%x is said to lie in %+v", k, s)
		}
		holders := 0
		for _, n := range m.Nodes() {
			if contains(m.Table(n.ID).Coverage(), k) {
				holders++
			}
		}
		if holders != 1 {
			t.Fatalf("%x lies on %d nodes", k, holders)
		}
	}
}

func TestBadOpsAreRefusedWhole(t *testing.T) {
	m, _ := NewModel([]Node{{Name: "a"}})
	for _, ops := range [][]Op{
		{{Kind: OpSplit, Slice: 1, At: 5, New: 2}, {Kind: OpMap, Slice: 2, Node: 9}},
		{{Kind: OpSplit, Slice: 1, At: 5, New: 3}},
		{{Kind: OpSplit, Slice: 1, At: 0, New: 2}},
		{{Kind: OpMerge, Slice: 1, New: 2}},
		{{Kind: OpJoin, Node: 2, Name: "a"}},
		{{Kind: 99}},
	} {
		if next, err := m.Apply(ops); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v gave %v, %v", ops, next, err)
		}
	}
	if _, err := NewModel(nil); err == nil {
		t.Error("a model without nodes")
	}
	if _, err := NewModel([]Node{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("two nodes with one name")
	}
}

func FuzzDecodeState(f *testing.F) {
	m, _ := NewModel([]Node{{Name: "a", Address: "b:1"}})
	good := State{Quantum: 3, Model: m}.Encode()
	f.Add(good)
	f.Add(good[:len(good)-1])
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
	m, _ := NewModel([]Node{{Name: "a"}, {Name: "b"}})
	e := m.Edit()
	last := uint64(1)
	for i := Key(1); i < 100_000; i++ {
		last, _ = e.Split(last, i<<40)
	}
	m, err := e.Model()
	if err != nil {
		b.Fatal(err)
	}
	ops := []Op{{Kind: OpMap, Slice: 5, Node: 2}}
	for b.Loop() {
		if _, err := m.Apply(ops); err != nil {
			b.Fatal(err)
		}
	}
}
