package fanout

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/stream"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// Target is a replica of a shard.
type Target struct {
	Database string // whose data it must have
	Shard    string // the shard's name
	ID       search.ShardID
	Replica  string // the slave's name
	Address  string
	Instance uint64 // of the slave's directory, or 0 if unknown
}

// Dialer connects to a replica of a shard. It returns at once. close ends the connection.
type Dialer func(t Target) (slave Slave, close func() error, err error)

// Streams returns a Dialer that uses gRPC. Each slave gets a stream for searches, on a connection
// of its own so that no large message can delay it, and a connection for calls. Words have stems in these
// languages.
func Streams(languages words.Languages, own *certs.Credentials, log *slog.Logger) Dialer {
	instance := rand.Uint64()
	return func(t Target) (Slave, func() error, error) {
		conn, err := wire.DialIn(languages, t.Address, own.To(t.Replica, access.Slave)...)
		if err != nil {
			return nil, nil, err
		}
		c := &Client{calls: calls{pb.NewSlaveClient(conn)}, target: t, reconnect: conn.ResetConnectBackoff}
		c.stream = stream.NewClient(stream.Config{Database: t.Database, Shard: t.ID, Name: t.Replica, Wanted: t.Instance, Instance: instance,
			Languages: languages, Times: stream.DefaultTimes(), Log: log}, opener(own, t))
		return c, func() error {
			c.stream.Close()
			return conn.Close()
		}, nil
	}
}

// opener returns an opener that opens each stream on a new connection: each attempt connects at
// once, without the pauses that gRPC makes between attempts on one connection.
func opener(own *certs.Credentials, t Target) stream.Opener {
	return func(ctx context.Context) (stream.Pipe, error) {
		conn, err := wire.DialStream(t.Address, own.To(t.Replica, access.Slave)...)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		return stream.Over(pb.NewSlaveClient(conn))(ctx)
	}
}
