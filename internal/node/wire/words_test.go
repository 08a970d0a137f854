package wire_test

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// anySlave answers everything.
type anySlave struct{ pb.UnimplementedSlaveServer }

func (anySlave) Explain(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error) {
	return &pb.ExplainResponse{}, nil
}

func (anySlave) Map(context.Context, *pb.MapRequest) (*pb.MapResponse, error) {
	return &pb.MapResponse{}, nil
}

// anyDistributor hands out empty parts.
type anyDistributor struct {
	pb.UnimplementedDistributorServer
}

func (anyDistributor) Part(context.Context, *pb.PartRequest) (*pb.PartResponse, error) {
	return &pb.PartResponse{}, nil
}

// between serves both with options, and connects to them with others.
func between(t *testing.T, server []grpc.ServerOption, client []grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	s := grpc.NewServer(server...)
	pb.RegisterSlaveServer(s, anySlave{})
	pb.RegisterDistributorServer(s, anyDistributor{})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient("passthrough:///x", append(client, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// calls are those that carry hashes of words, and one that does not.
func calls(ctx context.Context, conn *grpc.ClientConn) map[string]error {
	errs := make(map[string]error)
	_, errs["explain"] = pb.NewSlaveClient(conn).Explain(ctx, &pb.ExplainRequest{})
	_, errs["part"] = pb.NewDistributorClient(conn).Part(ctx, &pb.PartRequest{})
	_, errs["map"] = pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{})
	return errs
}

// TestCallsOfOtherWordsAreRefused: whichever side is the older one, calls with hashes of words fail, and
// others do not.
func TestCallsOfOtherWordsAreRefused(t *testing.T) {
	said := func(version string) grpc.ServerOption { // a server of other words
		return grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if version != "" {
				_ = grpc.SetHeader(ctx, metadata.Pairs("adshard-words", version))
			}
			return handle(ctx, req)
		})
	}
	more, err := words.ParseLanguages("cs,en,de")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server  []grpc.ServerOption
		client  []grpc.DialOption
		names   string // of the caller's words; "": the client's own way
		refused bool
	}{
		"other languages":           {server: wire.SlaveOptions(more, nil), client: wire.ClientOptions(words.Default), refused: true},
		"the same languages":        {server: wire.SlaveOptions(more, nil), client: wire.ClientOptions(more)},
		"this program":              {server: wire.SlaveOptions(words.Default, nil), client: wire.ClientOptions(words.Default)},
		"an older server":           {client: wire.ClientOptions(words.Default), refused: true},
		"a server of older words":   {server: []grpc.ServerOption{said("rules 1; x")}, client: wire.ClientOptions(words.Default), refused: true},
		"an older client":           {server: wire.SlaveOptions(words.Default, nil), refused: true},
		"a client of newer words":   {server: wire.SlaveOptions(words.Default, nil), names: "rules 99; x", refused: true},
		"a client of the same ones": {server: wire.SlaveOptions(words.Default, nil), names: words.Version()},
	} {
		t.Run(name, func(t *testing.T) {
			conn := between(t, c.server, c.client)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if c.names != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "adshard-words", c.names)
			}
			for call, err := range calls(ctx, conn) {
				err = wire.FromStatus(err)
				if c.refused && call != "map" {
					if !fault.Is(err, fault.Version) {
						t.Errorf("%s: %v", call, err)
					}
				} else if err != nil {
					t.Errorf("%s: %v", call, err)
				}
			}
		})
	}
	if wire.PeerWords(t.Context(), words.Default) != words.Version() {
		t.Error("a call in one process names other words")
	}
}
