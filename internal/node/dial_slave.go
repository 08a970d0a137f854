package node

import (
	"adshard/internal/node/fanout"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// dialSlave is the fanout.Dialer over gRPC.
func dialSlave(shard string, id search.ShardID, address string) (fanout.Slave, func() error, error) {
	conn, err := wire.Dial(address)
	if err != nil {
		return nil, nil, err
	}
	return fanout.NewClient(shard, id, pb.NewSlaveClient(conn)), conn.Close, nil
}
