// Package admission bounds what slaves that register can make a balancer or
// distributor remember. Messages have bounds of their own (package wire).
package admission

import (
	"adshard/fault"
	"adshard/schema/pb"
)

// Whoever can reach a balancer or distributor can announce slaves. What they
// make it remember is bounded, beside the size of each message (package wire).
const (
	// MaxSlaves is how many slaves a cluster has, those that were drained or
	// have never come back among them.
	MaxSlaves = 1024
	// MaxSlices is how many slices the tables of all slaves have together: a
	// slice lies on two slaves while it moves.
	MaxSlices = 4 * 1 << 18
	// maxView is a view that no map reaches, by far.
	maxView = 1 << 62
)

// Check returns why one more slave, or a slave's larger table, cannot be kept.
// known is whether the slave is one of the others already, others how many
// there are; held is how many slices the others' tables have, without the
// slave's own.
func Check(op, name string, known bool, others, held int, table *pb.SliceTable) error {
	if !known && others >= MaxSlaves {
		return fault.Newf(fault.Overloaded, op,
			"slave %s is refused: there are %d slaves already, the most there can be; remove those that are gone for good", name, others)
	}
	if table.GetView() > maxView {
		return fault.Field(op, "view", "the table of slave %s is of view %d; no map has changed so often", name, table.GetView())
	}
	if n := len(table.GetSlices()); held+n > MaxSlices {
		return fault.Newf(fault.Overloaded, op,
			"the table of slave %s with %d slices is refused: all slaves together may have %d", name, n, MaxSlices)
	}
	return nil
}

// MaxRestarts is how far an epoch can be ahead of the one known: an epoch begins
// with each start of a balancer, and a restored database brings back that of its
// backup.
const MaxRestarts = 1 << 20
