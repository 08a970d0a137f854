package fanout

import (
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Dial is the Dialer over gRPC.
func Dial(shard string, id search.ShardID, address string) (Slave, func() error, error) {
	conn, err := wire.Dial(address)
	if err != nil {
		return nil, nil, err
	}
	return NewClient(shard, id, pb.NewSlaveClient(conn)), conn.Close, nil
}
