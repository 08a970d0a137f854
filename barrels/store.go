package barrels

import (
	"context"

	"adshard/schema/pb"
	"adshard/search"
)

// Store is the barrels of one slave. Searches may run while one Apply runs;
// there is one writer at a time.
type Store interface {
	search.Searcher
	search.Explainer
	// Apply applies one bucket whole or not at all. A bucket that does not
	// begin at Position is refused with fault.Stale; a full disk is
	// fault.NoSpace and leaves the store serving as before.
	Apply(ctx context.Context, data *pb.NodeData) error
	// Position is the end of the last bucket applied; the zero position of an
	// empty store.
	Position() *pb.Position
	// Slices is the table of slices as last applied.
	Slices() *pb.SliceTable
	// SetCaughtUp tells the store whether it holds all that it should. While
	// it does not it serves what it has with a width of 0. Stores open caught
	// up.
	SetCaughtUp(bool)
	// Maintain does background work until there is none left or ctx is over:
	// fills blocks, mends anchors, tightens bounds, sweeps parents without
	// groups.
	Maintain(ctx context.Context) error
	// Stats returns sizes.
	Stats() Stats
	Close() error
}

// Stats is the size of a store.
type Stats struct {
	Groups, Keywords, Postings, Blocks, Terms uint64
	Campaigns, Advertisers                    uint64
	// DiskBytes is what the files take; 0 in memory.
	DiskBytes uint64
	// BadBlocks is the number of damaged blocks met since the store was opened.
	BadBlocks uint64
}

// ServedSlices returns the slices of a table that are served in a view, and
// the sum of their widths; view 0 stands for the table's newest.
func ServedSlices(t *pb.SliceTable, view uint64) ([]*pb.HeldSlice, search.Width) {
	if view == 0 {
		view = t.GetView()
	}
	var served []*pb.HeldSlice
	var width search.Width
	for _, s := range t.GetSlices() {
		if s.From == 0 || view < s.From || s.Until != 0 && view > s.Until {
			continue
		}
		served = append(served, s)
		width = width.Add(search.IntervalWidth(s.Lo, s.Hi))
	}
	return served, width
}
