package fanout

import (
	"context"
	"time"

	"adshard/balance/maps"
	"adshard/schema/pb"
)

// seedTime bounds the calls to seeds. After the first map has arrived, the other seeds get only
// seedRest, so that queries that wait for a map do not wait for a slave that hangs.
const (
	seedTime = time.Second
	seedRest = 50 * time.Millisecond
)

// Seed is a slave that is asked for the map.
type Seed interface {
	Map(ctx context.Context) (*pb.MapResponse, error)
}

// Seeds are slaves that are asked for the last map they got from a balancer.
type Seeds []Seed

// next returns the best of the slaves' maps if it replaces the present one. Errors: those of
// maps.Version.Choose.
func (s Seeds) next(ctx context.Context, have maps.Version) ([]*pb.Shard, maps.Version, error) {
	replies := s.ask(ctx)
	received := make([]maps.SlaveMap, len(replies))
	for i, r := range replies {
		received[i] = maps.SlaveMap{Version: versionOf(r), Least: r.GetLeast()}
	}
	best, version, err := have.Choose(received)
	if err != nil {
		return nil, version, err
	}
	return replies[best].GetShards(), version, nil
}

// ask returns the maps of the slaves that have one and answer in time.
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
	var rest <-chan time.Time
	for range s {
		select {
		case r := <-replies:
			if len(r.GetShards()) == 0 {
				continue
			}
			if maps = append(maps, r); rest == nil {
				rest = time.After(seedRest)
			}
		case <-rest:
			return maps
		}
	}
	return maps
}
