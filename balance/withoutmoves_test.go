package balance

import "testing"

// TestWithoutMoves: moves that were not switched are removed, others stay.
func TestWithoutMoves(t *testing.T) {
	base, err := NewModel([]Shard{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	change := func(m *Model, edit func(e *Edit) error) *Model {
		t.Helper()
		e := m.Edit()
		if err := edit(e); err != nil {
			t.Fatal(err)
		}
		next, err := e.Model()
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	a, b := base.Shards()[0].ID, base.Shards()[1].ID
	var second uint64
	m := change(base, func(e *Edit) error {
		first := base.Slices()[0].ID
		if err := e.Map(first, a); err != nil {
			return err
		}
		second, err = e.Split(first, MaxKey/2)
		return err
	})
	m = change(m, func(e *Edit) error { return e.Start(m.Slices()[0].ID, b) })
	m = change(m, func(e *Edit) error { return e.Start(second, b) })
	m = change(m, func(e *Edit) error { return e.Switch(second) })
	s, err := State{Quantum: 7, Replicas: 1, Model: m}.WithoutMoves()
	if err != nil || s.Quantum != 7 || s.Replicas != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if list := s.Model.Slices(); list[0].Move.Phase != NoMove || list[0].Shard != a || list[1].Move.Phase != Switched {
		t.Errorf("%+v", list)
	}
}
