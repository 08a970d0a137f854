package offline

import (
	"adshard/backend/nodedata"
	"adshard/barrels/bulk"
	"adshard/barrels/rocks"
	"adshard/schema/pb"
)

// wholeStore is a store while it is built; bulk.Builder is one. Add may be
// called by several goroutines at a time.
type wholeStore interface {
	AddParents(advertisers []*pb.Advertiser, campaigns []*pb.Campaign) error
	Add(item *pb.Item) error
	// Finish makes the store ready to be opened; it uses all processors.
	Finish(position *pb.Position, slices *pb.SliceTable) error
	// Close is called in any case; without Finish nothing is left.
	Close() error
}

// openWhole begins a store in dir, which must be missing or empty.
func openWhole(dir string) (wholeStore, error) {
	runs, err := rocks.NewRuns(dir, rocks.Options{})
	if err != nil {
		return nil, err
	}
	b, err := bulk.New(runs)
	if err != nil {
		return nil, err
	}
	b.SetBuilder(nodedata.Version)
	return b, nil
}
