package balance

// Move is the move of a slice (design.md, "The balance core"). While it lasts the
// slice is not changed in any other way.
type Move struct {
	Phase MovePhase
	// Other is the target while it is being copied, and the node that served
	// the slice before when it is switched.
	Other NodeID
	// OtherFrom is, after the switch, the first view in which Other served it; the
	// last is Slice.From - 1.
	OtherFrom uint64
}

// MovePhase is the phase of a move.
type MovePhase uint8

// The phases of a move.
const (
	NoMove   MovePhase = iota
	Copying            // Other gets the items; Node serves
	Switched           // Node serves from Slice.From on, Other the views before
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
