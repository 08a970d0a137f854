package balance

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// TestStateWithoutMemories: a state of format 5, which balancers wrote before strategies
// remembered anything, can be read; other formats cannot.
func TestStateWithoutMemories(t *testing.T) {
	m, err := NewModel([]Shard{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	want := State{Quantum: 8, Replicas: 2, Configured: 3, Model: m}
	b := want.Encode()
	b = b[:len(b)-9] // without the number of memories and the checksum
	of := func(format byte) []byte {
		out := append([]byte{format}, b[1:]...)
		return binary.LittleEndian.AppendUint64(out, xxhash.Sum64(out))
	}
	if s, err := DecodeState(of(5)); err != nil || !bytes.Equal(s.Encode(), want.Encode()) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, format := range []byte{4, 7} {
		if _, err := DecodeState(of(format)); !fault.Is(err, fault.Version) {
			t.Errorf("format %d: %v", format, err)
		}
	}
}

// TestMemoriesAreSaved: what strategies remember is read back unchanged; a memory that is too
// large is not saved.
func TestMemoriesAreSaved(t *testing.T) {
	m, err := NewModel([]Shard{{Name: "a"}})
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
