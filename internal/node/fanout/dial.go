package fanout

import (
	"log/slog"
	"math/rand/v2"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
)

// Target is a replica of a shard.
type Target struct {
	Database string // whose data it is to have
	Shard    string // the shard's name
	ID       search.ShardID
	Replica  string // the slave's name
	Address  string
	Instance uint64 // of the slave's directory; 0: unknown
}

// Dialer connects to a replica of a shard; it returns at once. Close ends the
// connection.
type Dialer func(t Target) (slave Slave, close func() error, err error)

// Calls returns the Dialer over gRPC that makes a call for each search.
func Calls(own *certs.Credentials) Dialer {
	return func(t Target) (Slave, func() error, error) {
		conn, err := wire.Dial(t.Address, own.To(t.Replica, access.Slave)...)
		if err != nil {
			return nil, nil, err
		}
		c := NewClient(t, pb.NewSlaveClient(conn))
		c.reconnect = conn.ResetConnectBackoff
		return c, conn.Close, nil
	}
}

// Streams returns the Dialer over gRPC that keeps a stream for searches to each slave,
// on a connection of its own, so that nothing large can hold it up.
func Streams(own *certs.Credentials, log *slog.Logger) Dialer {
	instance := rand.Uint64()
	return func(t Target) (Slave, func() error, error) {
		calls, err := wire.Dial(t.Address, own.To(t.Replica, access.Slave)...)
		if err != nil {
			return nil, nil, err
		}
		conn, err := wire.DialStream(t.Address, own.To(t.Replica, access.Slave)...)
		if err != nil {
			_ = calls.Close()
			return nil, nil, err
		}
		c := NewClient(t, pb.NewSlaveClient(calls))
		c.reconnect = calls.ResetConnectBackoff
		c.stream = stream.NewClient(stream.Config{Database: t.Database, Shard: t.ID, Name: t.Replica, Wanted: t.Instance, Instance: instance,
			Times: stream.DefaultTimes(), Log: log}, stream.Over(pb.NewSlaveClient(conn)))
		return c, func() error {
			c.stream.Close()
			_ = conn.Close()
			return calls.Close()
		}, nil
	}
}
