package balance

import (
	"cmp"
	"fmt"
)

// Position is a place in the log that a slave applies: all changes of items up to
// Clock, under all quanta up to Quantum. Offset is 0 if the slave has everything that
// it should have at this position. While a batch of items is being sent, Offset is one
// more than the last key sent, or 1 if none was sent yet.
type Position struct {
	Epoch, Clock, Quantum, Offset uint64
}

// Compare orders positions by epoch, clock, quantum and offset. The offset 0, which
// means done, comes after all others.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Clock, q.Clock),
		cmp.Compare(p.Quantum, q.Quantum), cmp.Compare(p.Offset-1, q.Offset-1))
}

// String returns the position as epoch/clock/quantum/offset.
func (p Position) String() string {
	return fmt.Sprintf("%d/%d/%d/%d", p.Epoch, p.Clock, p.Quantum, p.Offset)
}
