package balance

// MaxKey is the last key of the ring. The first, 0, is never an item's: both
// orders map the id 0 there, and ids begin at 1.
const MaxKey = Key(1<<64 - 1)

// ShardID is a shard within a Model; ids begin at 1 and are never reused.
type ShardID uint32

// Shard is what slices are assigned to: a set of slaves that hold the same slices, called a
// node in the thesis (6.1). The model lists the slaves. With one replica a shard has the name
// of its only slave.
type Shard struct {
	ID    ShardID
	Name  string
	State ShardState
}

// ShardState is the role of a shard.
type ShardState uint8

// The states of a shard.
const (
	Active   ShardState = iota
	Draining            // its slices go to others
	Drained             // it has none and gets none
	// Dissolving: its slices go to others; then it ends, and its slaves are spares.
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

// Slice is an interval of keys, both ends inclusive (thesis 6.1), and the shard
// that serves it.
type Slice struct {
	ID     uint64
	Lo, Hi Key
	// Generation grows with each start, end and switch of a move, split and
	// merge of the slice, so that messages about an earlier state of it can be
	// recognised.
	Generation uint64
	Shard      ShardID
	// From is the first view in which Shard serves the slice.
	From uint64
	Move Move
}

// Move is the move of a slice (design.md, "The balance core"). While it lasts the
// slice is not changed in any other way.
type Move struct {
	Phase MovePhase
	// Other is the target while it is being copied, and the shard that served
	// the slice before when it is switched.
	Other ShardID
	// OtherFrom is, after the switch, the first view in which Other served it; the
	// last is Slice.From - 1.
	OtherFrom uint64
}

// MovePhase is the phase of a move.
type MovePhase uint8

// The phases of a move.
const (
	NoMove   MovePhase = iota
	Copying            // Other gets the items; Shard serves
	Switched           // Shard serves from Slice.From on, Other the views before
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

// Target returns the shard that a slice will be on when its move is done.
func (s Slice) Target() ShardID {
	if s.Move.Phase == Copying {
		return s.Move.Other
	}
	return s.Shard
}
