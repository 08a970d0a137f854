package node

import (
	"context"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/schema/pb"
)

// openWhole makes an empty store in dir to be filled.
func openWhole(dir string) (wholeStore, error) {
	store, err := rocks.Open(dir, rocks.Options{})
	if err != nil {
		return nil, err
	}
	return &appliedStore{store: store, at: &pb.Position{}}, nil
}

// appliedBatch is how many groups an appliedStore takes at a time.
const appliedBatch = 4096

// appliedStore fills a store by buckets, as a slave does.
type appliedStore struct {
	store barrels.Store
	at    *pb.Position
	next  pb.NodeData
}

// AddParents implements wholeStore.
func (s *appliedStore) AddParents(advertisers []*pb.Advertiser, campaigns []*pb.Campaign) error {
	s.next.Advertisers, s.next.Campaigns = advertisers, campaigns
	return s.apply(&pb.Position{Quantum: 1, Offset: 1})
}

// Add implements wholeStore.
func (s *appliedStore) Add(item *pb.Item) error {
	s.next.Items = append(s.next.Items, item)
	if len(s.next.Items) < appliedBatch {
		return nil
	}
	return s.apply(&pb.Position{Quantum: 1, Offset: s.at.Offset + 1})
}

func (s *appliedStore) apply(to *pb.Position) error {
	s.next.From, s.next.To = s.at, to
	if err := s.store.Apply(context.Background(), &s.next); err != nil {
		return err
	}
	s.at = to
	s.next.Reset()
	return nil
}

// Finish implements wholeStore.
func (s *appliedStore) Finish(position *pb.Position, slices *pb.SliceTable) error {
	s.next.Slices = slices
	if err := s.apply(position); err != nil {
		return err
	}
	return s.store.Close()
}

// Abort implements wholeStore.
func (s *appliedStore) Abort() { s.store.Close() }
