package barrels

import (
	"adshard/barrels/index"
	"adshard/schema/pb"
)

// Orphans are groups at keys that the table of slices does not cover. A distributor leaves none:
// slices that leave stay in the table as residue until they are cleared. A store that may have
// orphans says so in its metadata and checks each group before it is shown. Any other store only
// needs to check groups in slices that are being moved.

// leavesOrphans reports whether a bucket may leave groups that its new table does not cover, given
// the table before it.
func leavesOrphans(before, after *pb.SliceTable, d *pb.NodeData) bool {
	named := index.Joined(after.GetSlices(), nil)
	for _, it := range d.Items {
		if !index.Within(named, it.Group.Key) {
			return true
		}
	}
	if before == after || d.Reset_ {
		return false
	}
	for _, r := range index.Joined(before.GetSlices(), nil) {
		if !index.Covered(r, named, d.Cleared) {
			return true
		}
	}
	return false
}
