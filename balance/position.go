package balance

import (
	"cmp"
	"fmt"
)

// Position is a place in the log that a node applies: all changes of items up
// to Clock under all quanta below Quantum, or up to and with it when Offset is
// 0. While the items that quantum Quantum brings are on their way, Offset is
// one more than the last key delivered (0 past the ring's end: done).
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
