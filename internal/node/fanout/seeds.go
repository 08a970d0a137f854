package fanout

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// seedTime is how long seeds have to answer.
const seedTime = time.Second

// Seed is a slave that is asked for the map.
type Seed interface {
	Map(ctx context.Context) (*pb.MapResponse, error)
}

// Seeds is a Source that asks slaves for the map that a balancer last told
// them. Without seeds it is fault.Unavailable.
type Seeds []Seed

// WatchMap implements Source: it returns the newest map that any slave has,
// without waiting for another one. Errors: fault.Unavailable when none has a
// map.
func (s Seeds) WatchMap(ctx context.Context, _ *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, seedTime)
	defer cancel()
	replies := make(chan *pb.MapResponse, len(s))
	for _, seed := range s {
		go func() {
			reply, err := seed.Map(ctx)
			if err != nil {
				reply = nil
			}
			replies <- reply
		}()
	}
	var newest *pb.MapResponse
	for range s {
		r := <-replies
		if len(r.GetShards()) > 0 && (newest == nil || r.GetEpoch() > newest.GetEpoch() ||
			r.GetEpoch() == newest.GetEpoch() && r.GetView() > newest.GetView()) {
			newest = r
		}
	}
	if newest == nil {
		return nil, fault.Newf(fault.Unavailable, "master: learn the map", "none of %d slaves has a map", len(s))
	}
	return &pb.WatchMapResponse{Epoch: newest.GetEpoch(), View: newest.GetView(), Shards: newest.GetShards()}, nil
}
