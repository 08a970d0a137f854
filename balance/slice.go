package balance

// MaxKey is the last key of the ring. The first key, 0, is never the key of an item: both
// hashing orders map the id 0 to it, and ids begin at 1.
const MaxKey = Key(1<<64 - 1)

// ShardID identifies a shard within a Model. Ids begin at 1 and are never reused.
type ShardID uint32

// Shard is a set of slaves that hold the same slices; the thesis calls it a node (6.1).
// Slices are assigned to shards. The model lists the slaves. With one replica, a shard has
// the name of its only slave.
type Shard struct {
	ID    ShardID
	Name  string
	State ShardState
}

// ShardState is the state of a shard.
type ShardState uint8

// The states of a shard.
const (
	Active   ShardState = iota
	Draining            // its slices move to other shards
	Drained             // it has no slices and gets none
	// Dissolving shards give their slices to other shards; after that, the shard ends and its
	// slaves become spares.
	Dissolving
)

// String returns the state's name.
func (s ShardState) String() string {
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

// Slice is an interval of keys, both ends inclusive (thesis 6.1), and the shard that serves
// it.
type Slice struct {
	ID     uint64
	Lo, Hi Key
	// Generation grows whenever the slice is split or merged or a move of it starts, ends or
	// switches. So messages about an earlier state of the slice can be recognised.
	Generation uint64
	Shard      ShardID
	// From is the first view in which Shard serves the slice.
	From uint64
	Move Move
}

// Move is the move of a slice (design.md, "The balance core"). During a move the slice is not
// changed in any other way.
type Move struct {
	Phase MovePhase
	// Other is the target of the move while the slice is being copied. After the switch it is
	// the shard that served the slice before.
	Other ShardID
	// OtherFrom is set after the switch. It is the first view in which Other served the
	// slice; the last is Slice.From - 1.
	OtherFrom uint64
}

// MovePhase is the phase of a move.
type MovePhase uint8

// The phases of a move.
const (
	NoMove   MovePhase = iota
	Copying            // Other is being filled; Shard serves
	Switched           // Shard serves from Slice.From on; Other serves earlier views
)

// String returns the phase's name.
func (p MovePhase) String() string {
	switch p {
	case NoMove:
		return "at rest"
	case Copying:
		return "copying"
	}
	return "switched"
}

// Target returns the shard that the slice will be on after its move.
func (s Slice) Target() ShardID {
	if s.Move.Phase == Copying {
		return s.Move.Other
	}
	return s.Shard
}
