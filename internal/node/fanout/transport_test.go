package fanout

import (
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"

	"adshard/barrels/barreltest"
	"adshard/internal/node/overload"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// streams returns the Dialer for tests.
func streams() Dialer { return Streams(words.Default, nil, slog.New(slog.DiscardHandler)) }

// serve serves a store as a replica of a shard over gRPC. It returns the slave as the fan-out
// reaches it, over a stream that is up. `stop` ends the replica, and `hangUp` ends the connection
// to it.
func serve(t barreltest.TB, name, shard string, store shardserver.Store, upkeep shardserver.Upkeep) (slave Slave, stop, hangUp func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	server := grpc.NewServer(wire.SlaveOptions(words.Default, nil)...)
	service := shardserver.New(shardserver.Identity{Name: name}, store, upkeep, overload.New(overload.ForSlave(64)), nil, nil)
	pb.RegisterSlaveServer(server, service)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	slave, end, err := streams()(Target{Shard: shard, ID: search.NewShardID("", "", shard), Replica: name, Address: listener.Addr().String()})
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); !slave.(*Client).Up(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("no stream to %s", name)
		}
	}
	return slave, func() { server.Stop(); <-served; service.Close() }, func() { _ = end() }
}
