package balance

import (
	"cmp"
	"fmt"
)

// Position is a place in the log that a slave applies: all changes of items up
// to Clock, under all quanta up to Quantum. Offset is 0 when all that the slave
// is to have is there; while a batch of items is on its way, it is one more
// than the last key delivered (1: none yet).
type Position struct {
	Epoch, Clock, Quantum, Offset uint64
}

// Compare orders positions by epoch, clock, quantum, offset; the offset 0,
// done, is the last of all.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Clock, q.Clock),
		cmp.Compare(p.Quantum, q.Quantum), cmp.Compare(p.Offset-1, q.Offset-1))
}

// String returns epoch/clock/quantum/offset.
func (p Position) String() string {
	return fmt.Sprintf("%d/%d/%d/%d", p.Epoch, p.Clock, p.Quantum, p.Offset)
}
