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
)

// dialers are the ways to reach a slave; what a fan-out promises holds over each.
func dialers() map[string]Dialer {
	return map[string]Dialer{"stream": Streams(slog.New(slog.DiscardHandler)), "unary": Dial}
}

// serve serves a store as a slave over gRPC, and returns it as the fan-out reaches it,
// over a stream that is up if it has one.
func serve(t barreltest.TB, name string, store shardserver.Store, dial Dialer) (Slave, func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	server := grpc.NewServer(wire.SlaveOptions(nil)...)
	shard := shardserver.New(shardserver.Identity{Name: name}, store, kept{}, overload.New(overload.ForSlave(64)), nil, nil)
	pb.RegisterSlaveServer(server, shard)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	slave, hangUp, err := dial(Target{Shard: name, ID: search.NewShardID("", "", name), Replica: name, Address: listener.Addr().String()})
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	if c := slave.(*Client); c.stream != nil {
		for end := time.Now().Add(10 * time.Second); !c.stream.Up(); time.Sleep(100 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatalf("no stream to %s", name)
			}
		}
	}
	return slave, func() { _ = hangUp(); server.Stop(); <-served; shard.Close() }
}
