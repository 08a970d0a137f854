// Package admission bounds what slaves that register can make a balancer or
// distributor remember. Messages have bounds of their own (package wire).
package admission

import (
	"adshard/fault"
	"adshard/schema/pb"
)

// Any process that can reach a balancer or distributor can register slaves
// there.
const (
	// MaxSlaves bounds the slaves of a cluster, including those that were drained
	// or never came back.
	MaxSlaves = 1024
	// MaxSlices bounds the slices in the tables of all slaves together: a slice is
	// on two slaves while it moves.
	MaxSlices = 4 * 1 << 18
	// maxView is far above the view of any map.
	maxView = 1 << 62
)

// Check returns why a slave, or its table, cannot be taken, or none if it can. registered
// says whether the slave has registered before, others is the number of other slaves that
// have; slices is the number of slices in all other slaves' tables. Errors:
// fault.Overloaded, fault.Invalid.
func Check(op, name string, registered bool, others, slices int, table *pb.SliceTable) error {
	if !registered && others >= MaxSlaves {
		return fault.Newf(fault.Overloaded, op,
			"slave %s is refused: there are %d slaves already, the most there can be; remove those that are gone for good", name, others)
	}
	if table.GetView() > maxView {
		return fault.Field(op, "view", "the table of slave %s is of view %d; no map has changed so often", name, table.GetView())
	}
	if n := len(table.GetSlices()); slices+n > MaxSlices {
		return fault.Newf(fault.Overloaded, op,
			"the table of slave %s with %d slices is refused: all slaves together may have %d", name, n, MaxSlices)
	}
	return nil
}

// MaxRestarts bounds by how much a reported epoch can exceed the last one: an epoch
// begins with each start of a balancer, and a restored database brings back the
// epoch of its backup.
const MaxRestarts = 1 << 20
