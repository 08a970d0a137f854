package slave

import (
	"context"

	"adshard/barrels"
	"adshard/internal/node/background"
	"adshard/schema/pb"
)

// bulkStore is a store whose bulk work gets processors only after searches, including searches of
// other slaves on the machine.
type bulkStore struct {
	barrels.Store
	threads *background.Threads // shared by all copies of this value
}

// Apply implements barrels.Store.
func (s bulkStore) Apply(ctx context.Context, data *pb.NodeData) (err error) {
	s.threads.Do(func() { err = s.Store.Apply(ctx, data) })
	return err
}

// Certify implements barrels.Store.
func (s bulkStore) Certify(ctx context.Context, lo, hi, bins uint64, parents []barrels.Parent) (c *barrels.Certificate, err error) {
	s.threads.Do(func() { c, err = s.Store.Certify(ctx, lo, hi, bins, parents) })
	return c, err
}

// Discard implements barrels.Store.
func (s bulkStore) Discard(ctx context.Context, list []*pb.Interval) (err error) {
	s.threads.Do(func() { err = s.Store.Discard(ctx, list) })
	return err
}

// Maintain implements barrels.Store.
func (s bulkStore) Maintain(ctx context.Context) (err error) {
	s.threads.Do(func() { err = s.Store.Maintain(ctx) })
	return err
}

// Warm implements barrels.Store.
func (s bulkStore) Warm(ctx context.Context) (lists int) {
	s.threads.Do(func() { lists = s.Store.Warm(ctx) })
	return lists
}
