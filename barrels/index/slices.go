package index

import (
	"adshard/barrels/record"
	"adshard/schema/pb"
	"adshard/search"
)

// ServedSlices returns the slices of a table that are served in a view, and the sum of their
// widths. View 0 means the table's newest.
func ServedSlices(t *pb.SliceTable, view uint64) ([]*pb.HeldSlice, search.Width) {
	if view == 0 {
		view = t.GetView()
	}
	var served []*pb.HeldSlice
	var width search.Width
	for _, s := range t.GetSlices() {
		if isServed(s, view) {
			served = append(served, s)
			width = width.Add(search.IntervalWidth(s.Lo, s.Hi))
		}
	}
	return served, width
}

// isServed reports whether a slice is served in a view. Only full slices are.
func isServed(s *pb.HeldSlice, view uint64) bool {
	return s.State == pb.HeldState_HELD_STATE_FULL && s.From != 0 &&
		s.From <= view && (s.Until == 0 || view <= s.Until)
}

// CheckSlices returns fault.Invalid if no store can accept a table of slices.
func CheckSlices(t *pb.SliceTable) error {
	var last *pb.HeldSlice
	for _, s := range t.GetSlices() {
		if s == nil || s.Lo > s.Hi || last != nil && s.Lo <= last.Hi {
			return record.Invalid("the table of slices is not sorted and disjoint")
		}
		if _, known := pb.HeldState_name[int32(s.State)]; !known {
			return record.Invalid("slice %d is held in the state %d, which this program does not know", s.Id, s.State)
		}
		last = s
	}
	if t.GetLeast() > t.GetView() {
		return record.Invalid("views below %d are no longer served and %d is the newest", t.Least, t.View)
	}
	return nil
}
