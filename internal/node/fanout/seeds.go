package fanout

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/schema/pb"
)

// seedTime bounds the calls to seeds.
const seedTime = time.Second

// Seed is a slave that is asked for the map.
type Seed interface {
	Map(ctx context.Context) (*pb.MapResponse, error)
}

// Seeds are slaves that are asked for the last map that they got from a balancer.
type Seeds []Seed

// next returns the map, among those that the slaves have, that replaces
// the present one. Errors are those of balance.MapVersion.Choose.
func (s Seeds) next(ctx context.Context, have balance.MapVersion) ([]*pb.Shard, balance.MapVersion, error) {
	replies := s.ask(ctx)
	received := make([]balance.SlaveMap, len(replies))
	for i, r := range replies {
		received[i] = balance.SlaveMap{MapVersion: versionOf(r), Least: r.GetLeast()}
	}
	best, version, err := have.Choose(received)
	if err != nil {
		return nil, version, err
	}
	return replies[best].GetShards(), version, nil
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
