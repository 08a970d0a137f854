package barrels

import (
	"adshard/barrels/index"
	"adshard/barrels/record"
	"adshard/schema/pb"
)

// Validate returns nil if a store can apply the bucket, otherwise fault.Invalid with the first
// fault found. Apply calls it.
func Validate(d *pb.NodeData) error {
	if d.GetTo() == nil {
		return record.Invalid("the bucket has no end")
	}
	for _, a := range d.Advertisers {
		if err := record.CheckAdvertiser(a); err != nil {
			return err
		}
	}
	for _, c := range d.Campaigns {
		if err := record.CheckCampaign(c); err != nil {
			return err
		}
	}
	keys := make(map[uint64]bool, len(d.Items)+len(d.Deleted))
	for _, k := range d.Deleted {
		keys[k] = true
	}
	for _, it := range d.Items {
		if err := record.CheckItem(it); err != nil {
			return err
		}
		if it.Parts > 0 && (len(it.Keywords) > 0 || d.Reset_) {
			return record.Invalid("the group with key %x has parts and keywords, or is in a bucket that resets the store", it.Group.Key)
		}
		if keys[it.Group.Key] {
			return record.Invalid("the group with key %x occurs twice in the bucket", it.Group.Key)
		}
		keys[it.Group.Key] = true
	}
	if err := checkCleared(d.Cleared); err != nil {
		return err
	}
	return index.CheckSlices(d.Slices)
}

// checkParts returns fault.Invalid if no store can accept the keywords in parts.
func checkParts(d *pb.NodeData, parts Parts) error {
	for _, it := range d.Items {
		last := uint64(0)
		for part := range it.Parts {
			if parts == nil {
				return record.Invalid("the keywords of the group with key %x are missing", it.Group.Key)
			}
			list, err := parts(it, part)
			if err != nil {
				return err
			}
			if last, err = record.CheckKeywords(it.Group.Id, list, last); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCleared(list []*pb.Interval) error {
	for i, v := range list {
		if v == nil || v.Lo > v.Hi || i > 0 && v.Lo <= list[i-1].Hi {
			return record.Invalid("the cleared intervals are not sorted and disjoint")
		}
	}
	return nil
}

// samePosition reports whether two positions are equal. A nil position is the zero position.
func samePosition(a, b *pb.Position) bool {
	return a.GetEpoch() == b.GetEpoch() && a.GetClock() == b.GetClock() &&
		a.GetQuantum() == b.GetQuantum() && a.GetOffset() == b.GetOffset() && a.GetMark() == b.GetMark()
}
