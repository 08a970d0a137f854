package balancer

import (
	"context"

	"adshard/events"
	"adshard/schema/pb"
)

// EventKeys implements pb.BalancerServer. It returns the keys that collectors have made.
func (b *Balancer) EventKeys(ctx context.Context, _ *pb.EventKeysRequest) (*pb.EventKeysResponse, error) {
	keys, err := b.db.LoadControl(ctx, b.cfg.StateKey+events.KeysKey)
	if err != nil {
		return nil, err
	}
	return &pb.EventKeysResponse{Keys: keys}, nil
}
