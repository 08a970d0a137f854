package barrels

import (
	"slices"

	"adshard/schema/pb"
)

// Strays are groups at keys that the table of slices does not name. A
// distributor leaves none: what goes away stays named, as residue, until it is
// cleared. A store that may have some says so in its meta data and checks each
// group before it is shown; else only slices on their way cost a check.

// leavesStrays tells whether a bucket may leave groups that the table after it
// does not name, given the table before it.
func leavesStrays(before, after *pb.SliceTable, d *pb.NodeData) bool {
	named := joined(after.GetSlices(), nil)
	for _, it := range d.Items {
		if !within(named, it.Group.Key) {
			return true
		}
	}
	if before == after || d.Reset_ {
		return false
	}
	for _, r := range joined(before.GetSlices(), nil) {
		if !covered(r, named, d.Cleared) {
			return true
		}
	}
	return false
}

// covered tells whether each key of r lies in one of the runs or intervals,
// both rising and disjoint.
func covered(r run, runs []run, cleared []*pb.Interval) bool {
	for key := r.lo; ; {
		end, ok := endOf(key, runs, cleared)
		if !ok {
			return false
		}
		if end >= r.hi {
			return true
		}
		key = end + 1
	}
}

// endOf returns the end of the interval that a key lies in.
func endOf(key uint64, runs []run, cleared []*pb.Interval) (end uint64, ok bool) {
	i, _ := slices.BinarySearchFunc(runs, key, func(r run, k uint64) int { return before64(r.hi, k) })
	if i < len(runs) && runs[i].lo <= key {
		return runs[i].hi, true
	}
	i, _ = slices.BinarySearchFunc(cleared, key, func(v *pb.Interval, k uint64) int { return before64(v.GetHi(), k) })
	if i < len(cleared) && cleared[i].GetLo() <= key {
		return cleared[i].GetHi(), true
	}
	return 0, false
}

// before64 orders an interval that ends at hi against a key: before it, or not.
func before64(hi, key uint64) int {
	if hi < key {
		return -1
	}
	return 1
}
