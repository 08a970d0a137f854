package balance

import (
	"encoding/binary"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestStateOfFormat1: what balancers wrote before slices moved is still read.
func TestStateOfFormat1(t *testing.T) {
	b := []byte{1}
	for _, v := range []uint64{
		7, 1, 3, 3, // quantum, view, next slice, next node
		2, 1, 1, 'a', 2, 'a', '1', 2, 1, 'b', 2, 'b', '1', // two nodes: number, name, address
		2, 1, 1<<63 - 1, 4, 1, 1, 2, 1<<63 - 1, 1, 2, 1, // two slices: number, width, generation, node, view
	} {
		b = binary.AppendUvarint(b, v)
	}
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	s, err := DecodeState(b)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Model.Filled() {
		t.Error("a cluster of that time was filled long ago")
	}
	if s.Quantum != 7 || s.Model.View() != 1 || s.Model.Least() != 0 || len(s.Model.Slices()) != 2 {
		t.Errorf("%+v", s.Model)
	}
	if n, ok := s.Model.Named("b"); !ok || n.Address != "b1" || n.State != Active || s.Model.Slices()[1].Node != n.ID {
		t.Errorf("%+v", s.Model)
	}
	again, err := DecodeState(s.Encode())
	if err != nil || len(again.Model.Slices()) != 2 || !again.Model.Filled() {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestStateOfFormat2: what balancers wrote before the end of the first fill was
// kept is still read.
func TestStateOfFormat2(t *testing.T) {
	m, err := NewModel([]Node{{Name: "a", Address: "a1"}})
	if err != nil {
		t.Fatal(err)
	}
	b := State{Quantum: 7, Model: m}.Encode()
	if s, err := DecodeState(b); err != nil || s.Model.Filled() {
		t.Fatalf("%+v, %v", s, err)
	}
	const filled = 4 // after the format, the quantum, the view and the least view
	b = append(b[:filled:filled], b[filled+1:len(b)-8]...)
	b[0] = 2
	s, err := DecodeState(binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)))
	if err != nil || s.Quantum != 7 || !s.Model.Filled() || len(s.Model.Nodes()) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
}
