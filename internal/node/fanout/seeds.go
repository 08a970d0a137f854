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

// Seeds are slaves that are asked for the map that a balancer last told them.
type Seeds []Seed

// next returns the map of the least view after now's that a slave was told of;
// now may be nil. Slaves that are behind can serve no later one, and those that
// no longer serve it say so: then the next is asked for. Maps of epochs below
// the newest that any slave knows count only when no other is there, since
// slaves that returned after long have old ones. Errors: fault.Unavailable when
// none has such a map.
func (s Seeds) next(ctx context.Context, now *Map) (*pb.WatchMapResponse, error) {
	best := &pb.MapResponse{}
	epoch, filled := uint64(0), now != nil && now.Filled
	for _, r := range s.ask(ctx) {
		if now != nil && r.GetDatabase() != now.Database {
			continue
		}
		if best.GetDatabase() != "" && r.GetDatabase() != best.GetDatabase() {
			return nil, fault.Newf(fault.Conflict, "master: learn the map",
				"the slaves asked hold data of two databases, %s and %s; name slaves of one cluster", best.GetDatabase(), r.GetDatabase())
		}
		epoch, filled = max(epoch, r.GetEpoch()), filled || r.GetFilled()
		if now != nil && r.GetView() <= now.View {
			continue
		}
		if len(best.GetShards()) == 0 || r.GetEpoch() > best.GetEpoch() ||
			r.GetEpoch() == best.GetEpoch() && r.GetView() < best.GetView() {
			best = r
		}
	}
	if len(best.GetShards()) == 0 {
		return nil, fault.Newf(fault.Unavailable, "master: learn the map", "none of %d slaves has a newer map", len(s))
	}
	if now != nil {
		epoch = max(epoch, now.Epoch)
	}
	return &pb.WatchMapResponse{Epoch: epoch, View: best.GetView(), Shards: best.GetShards(),
		Database: best.GetDatabase(), Timeline: best.GetTimeline(), Filled: filled}, nil
}

// ask returns the maps of all slaves that have one.
func (s Seeds) ask(ctx context.Context) []*pb.MapResponse {
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
	var maps []*pb.MapResponse
	for range s {
		if r := <-replies; len(r.GetShards()) > 0 {
			maps = append(maps, r)
		}
	}
	return maps
}
