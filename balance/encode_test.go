package balance

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
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
	if n, ok := s.Model.Named("b"); !ok || n.State != Active || s.Model.Slices()[1].Node != n.ID {
		t.Errorf("%+v", s.Model)
	}
	if v, ok := s.Model.Slave("b"); !ok || v.Address != "b1" || v.Node != 2 || !v.In || len(s.Model.Slaves()) != 2 {
		t.Errorf("each node is a slave: %+v", s.Model.Slaves())
	}
	again, err := DecodeState(s.Encode())
	if err != nil || len(again.Model.Slices()) != 2 || !again.Model.Filled() {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestStateOfFormat2: what balancers wrote before the end of the first fill was
// kept is still read.
func TestStateOfFormat2(t *testing.T) {
	b := format3(t, 7, false)
	const filled = 4 // after the format, the quantum, the view and the least view
	b = append(b[:filled:filled], b[filled+1:len(b)-8]...)
	b[0] = 2
	s, err := DecodeState(binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)))
	if err != nil || s.Quantum != 7 || !s.Model.Filled() || len(s.Model.Nodes()) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// TestStateOfFormat3: what balancers wrote before shards had replicas is read as one
// slave for each node.
func TestStateOfFormat3(t *testing.T) {
	s, err := DecodeState(format3(t, 9, true))
	if err != nil || s.Quantum != 9 || s.Replicas != 0 || !s.Model.Filled() || s.Model.Revision() != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	want := []Slave{{Name: "a", Site: Site{Address: "a:1"}, Node: 2, In: true}, {Name: "b", Site: Site{Address: "b:1"}, Node: 1, In: true}}
	if !slices.Equal(s.Model.Slaves(), want) {
		t.Errorf("%+v", s.Model.Slaves())
	}
	if n, _ := s.Model.Named("a"); n.State != Draining {
		t.Errorf("%+v", n)
	}
	if table := s.Model.TableOf("b"); table.Shard != "" || table.Spare || len(table.Slices) != 1 {
		t.Errorf("%+v", table)
	}
}

// TestStateOfFormat5: a state without memories is written as balancers did before strategies
// had any, so that these can read it.
func TestStateOfFormat5(t *testing.T) {
	m, err := NewModel([]Node{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	b := State{Quantum: 8, Model: m}.Encode()
	s, err := DecodeState(b)
	if err != nil || b[0] != 5 || s.Quantum != 8 || len(s.Memories) != 0 {
		t.Fatalf("format %d: %+v, %v", b[0], s, err)
	}
}

// TestMemoriesAreSaved: what strategies remember is read again as it was, and a
// memory that is too large is not.
func TestMemoriesAreSaved(t *testing.T) {
	m, err := NewModel([]Node{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []StrategyMemory{{Strategy: "a", InUse: true, Bytes: []byte{0, 1}}, {Strategy: "b", Bytes: make([]byte, MaxMemory)}}
	s, err := DecodeState(State{Model: m, Memories: want}.Encode())
	if err != nil || !reflect.DeepEqual(s.Memories, want) {
		t.Fatalf("%+v, %v", s, err)
	}
	want[0].Bytes = make([]byte, MaxMemory+1)
	if _, err := DecodeState(State{Model: m, Memories: want}.Encode()); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a memory of %d bytes: %v", MaxMemory+1, err)
	}
}

// format3 encodes a model of two nodes, b and a, as format 3 did.
func format3(t *testing.T, quantum uint64, filled bool) []byte {
	t.Helper()
	b := []byte{3}
	put := func(list ...uint64) {
		for _, v := range list {
			b = binary.AppendUvarint(b, v)
		}
	}
	text := func(s string) { put(uint64(len(s))); b = append(b, s...) }
	put(quantum, 5, 4, flag(filled), 2, 3, 2)
	for i, name := range []string{"b", "a"} {
		put(uint64(i + 1))
		text(name)
		text(name + ":1")
		put(uint64(i)) // Active, Draining
	}
	put(1, 1, uint64(MaxKey), 3, 1, 2, uint64(NoMove))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}
