package offline

import (
	"adshard/backend/nodedata"
	"adshard/barrels/bulk"
	"adshard/barrels/rocks"
	"adshard/schema/pb"
	"adshard/search/words"
)

// wholeStore is a store that is being built, such as a bulk.Builder. Add is safe for concurrent
// use.
type wholeStore interface {
	AddParents(advertisers []*pb.Advertiser, campaigns []*pb.Campaign) error
	Add(item *pb.Item) error
	// Finish makes the store ready to be opened. It uses all processors.
	Finish(position *pb.Position, slices *pb.SliceTable) error
	// Close must always be called. Without a prior Finish, it leaves nothing behind.
	Close() error
}

// openWhole begins a store in dir, which must be missing or empty.
func openWhole(dir string, languages words.Languages) (wholeStore, error) {
	runs, err := rocks.NewRuns(dir, rocks.Options{})
	if err != nil {
		return nil, err
	}
	b, err := bulk.New(runs, languages)
	if err != nil {
		return nil, err
	}
	b.SetBuilder(nodedata.VersionIn(languages))
	return b, nil
}
