package balance

import (
	"fmt"
	"slices"
)

// MaxKey is the last key of the ring. The first, 0, is never an item's: both
// orders map the id 0 there, and ids begin at 1.
const MaxKey = Key(1<<64 - 1)

// NodeID is a node within a Model; ids begin at 1 and are never reused.
type NodeID uint32

// Node is a system node (thesis 6.1) to which slices are assigned: a shard. Its
// slaves are in the model's list; with one replica the only one has its name.
type Node struct {
	ID    NodeID
	Name  string
	State NodeState
}

// NodeState is the role of a node.
type NodeState uint8

// The states of a node.
const (
	Active   NodeState = iota
	Draining           // its slices go to others
	Drained            // it has none and gets none
	// Dissolving: its slices go to others; then it ends, and its slaves are spares.
	Dissolving
)

// String returns the state's name.
func (s NodeState) String() string {
	switch s {
	case Active:
		return "active"
	case Draining:
		return "draining"
	case Dissolving:
		return "dissolving"
	}
	return "drained"
}

// Slice is an interval of keys, both ends inclusive (thesis 6.1), and the node
// that serves it.
type Slice struct {
	ID     uint64
	Lo, Hi Key
	// Generation grows with each start, end and switch of a move, split and
	// merge of the slice, so that messages about an earlier state of it can be
	// recognised.
	Generation uint64
	Node       NodeID
	// From is the first view in which Node serves the slice.
	From uint64
	Move Move
}

// Interval is a run of keys, both ends inclusive.
type Interval struct{ Lo, Hi Key }

// Held is a slice, or a part of one that is arriving or leaving, in the table of
// the node that holds it. It is served in the views From..Until; From 0: held but
// not served; Until 0: no end. Only a slice that is entirely Full is served.
type Held struct {
	ID          uint64
	Lo, Hi      Key
	Generation  uint64
	From, Until uint64
	State       HeldState
}

// HeldState says how complete a held slice is.
type HeldState uint8

// The states of what is held, numbered as on the wire.
const (
	Full    HeldState = iota
	Filling           // items below the position's offset have arrived
	Residue           // it has left; its items are being deleted
)

// Table is all that a node holds, in ascending key order, disjoint. View is the newest
// view that it has received: it serves none above. Least is the oldest that it
// still serves.
type Table struct {
	Slices      []Held
	View, Least uint64
	// Revision is the newest that the slave has received; it serves masters of any.
	Revision uint64
	// Shard is the name of the shard that it is a replica of; "": its own name.
	// Spare: it is a replica of none.
	Shard string
	Spare bool
	// Filled is Model.Filled as the node has received it.
	Filled bool
}

// empty returns the table with no slices.
func (t Table) empty() Table {
	t.Slices = nil
	return t
}

// Equal reports whether two tables are equal.
func (t Table) Equal(u Table) bool {
	return t.View == u.View && t.Least == u.Least && t.Revision == u.Revision && t.Shard == u.Shard && t.Spare == u.Spare &&
		t.Filled == u.Filled && slices.Equal(t.Slices, u.Slices)
}

// Coverage returns the keys that the table holds, neighbours joined.
func (t Table) Coverage() []Interval {
	var out []Interval
	for _, h := range t.Slices {
		out = appendInterval(out, Interval{h.Lo, h.Hi})
	}
	return out
}

// check returns an error if slices overlap or have swapped ends.
func (t Table) check() error {
	for i, h := range t.Slices {
		if h.Lo > h.Hi || i > 0 && h.Lo <= t.Slices[i-1].Hi {
			return fmt.Errorf("slice %d of a node's table (%x to %x) overlaps or has its ends swapped", h.ID, h.Lo, h.Hi)
		}
	}
	return nil
}

// appendInterval adds an interval that lies after all of list.
func appendInterval(list []Interval, i Interval) []Interval {
	if n := len(list); n > 0 && list[n-1].Hi+1 == i.Lo {
		list[n-1].Hi = i.Hi
		return list
	}
	return append(list, i)
}

// contains reports whether a list of disjoint ascending intervals holds k.
func contains(list []Interval, k Key) bool {
	_, ok := slices.BinarySearchFunc(list, k, func(v Interval, k Key) int {
		switch {
		case v.Hi < k:
			return -1
		case v.Lo > k:
			return 1
		}
		return 0
	})
	return ok
}

// overlaps reports whether a list of disjoint ascending intervals has a key in v.
func overlaps(list []Interval, v Interval) bool {
	i, _ := slices.BinarySearchFunc(list, v.Lo, func(w Interval, k Key) int {
		if w.Hi < k {
			return -1
		}
		return 1
	})
	return i < len(list) && list[i].Lo <= v.Hi
}
