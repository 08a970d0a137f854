// Package admission bounds how much slaves can make a balancer or distributor remember by
// registering. Messages have bounds of their own (package wire).
package admission

import (
	"adshard/fault"
	"adshard/schema/pb"
)

// Any process that can reach a balancer or distributor can register slaves with it.
const (
	// MaxSlaves bounds the slaves of a cluster, including those that are drained or gone.
	MaxSlaves = 1024
	// MaxSlices bounds the slices in the tables of all slaves together. A slice is in two tables
	// while it moves.
	MaxSlices = 4 * 1 << 18
	// maxView is far above the view of any map.
	maxView = 1 << 62
)

// Check returns why a slave or its table cannot be accepted, or nil if it can. `registered` says
// whether the slave has registered before, `others` is the number of other slaves that have, and
// `slices` is the number of slices in the tables of all other slaves. Errors: fault.Overloaded,
// fault.Invalid.
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

// MaxRestarts bounds by how much a reported epoch may exceed the balancer's: each start of a
// balancer begins an epoch, and a restored database brings back the epoch of its backup.
const MaxRestarts = 1 << 20
