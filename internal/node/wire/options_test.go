package wire_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"adshard/fault"
	"adshard/internal/node/porttest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slave answers as each test wants.
type slave struct {
	pb.UnimplementedSlaveServer
	explain func(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error)
}

func (s slave) Explain(ctx context.Context, r *pb.ExplainRequest) (*pb.ExplainResponse, error) {
	return s.explain(ctx, r)
}

// start serves s with the cluster's options and returns a client with them.
func start(t *testing.T, s slave, onPanic func(string, any), extra ...grpc.DialOption) pb.SlaveClient {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(wire.SlaveOptions(words.Default, onPanic)...)
	pb.RegisterSlaveServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	options := append(wire.ClientOptions(words.Default), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	}))
	conn, err := grpc.NewClient("passthrough:///x", append(options, extra...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return pb.NewSlaveClient(conn)
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAFaultCrossesACall(t *testing.T) {
	client := start(t, slave{explain: func(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		return nil, fault.Newf(fault.Stale, "slave: search", "view 1 is over")
	}}, nil)
	_, err := client.Explain(within(t, time.Minute), &pb.ExplainRequest{})
	if !fault.Is(err, fault.Stale) || err.Error() != "slave: search: view 1 is over" {
		t.Fatalf("%v (%s)", err, fault.KindOf(err))
	}
}

func TestAPanicIsAnInternalFaultAndTold(t *testing.T) {
	var told string
	client := start(t, slave{explain: func(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		panic("boom")
	}}, func(method string, cause any) { told = method })
	_, err := client.Explain(within(t, time.Minute), &pb.ExplainRequest{})
	if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "boom") || told != pb.Slave_Explain_FullMethodName {
		t.Fatalf("%v (%s), told %q", err, fault.KindOf(err), told)
	}
}

func TestACallWithoutADeadlineIsRefused(t *testing.T) {
	reached := false
	explain := func(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		reached = true
		return &pb.ExplainResponse{}, nil
	}
	atClient := start(t, slave{explain: explain}, nil)
	// A client without our interceptor reaches the server, which refuses too.
	atServer := start(t, slave{explain: explain}, nil, grpc.WithUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
			return wire.FromStatus(invoke(ctx, method, req, reply, cc, o...))
		}))
	for name, client := range map[string]pb.SlaveClient{"client": atClient, "server": atServer} {
		if _, err := client.Explain(context.Background(), &pb.ExplainRequest{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if reached {
		t.Error("the handler was reached")
	}
}

func TestTheDeadlineIsTheSlavesToo(t *testing.T) {
	client := start(t, slave{explain: func(ctx context.Context, _ *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}, nil)
	if _, err := client.Explain(within(t, 20*time.Millisecond), &pb.ExplainRequest{}); !fault.Is(err, fault.Deadline) {
		t.Fatalf("%v (%s)", err, fault.KindOf(err))
	}
}

func asked(id string) *pb.ExplainRequest {
	return &pb.ExplainRequest{Request: &pb.SearchRequest{RequestId: id}}
}

func TestAMessageTooLargeIsRefused(t *testing.T) {
	client := start(t, slave{explain: func(context.Context, *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		return &pb.ExplainResponse{}, nil
	}}, nil)
	big := asked(strings.Repeat("x", wire.MaxSearch+1))
	if _, err := client.Explain(within(t, time.Minute), big); !fault.Is(err, fault.Overloaded) {
		t.Fatalf("%v (%s)", err, fault.KindOf(err))
	}
}

func TestAMessageBeyondABoundIsRefusedBeforeItIsSeen(t *testing.T) {
	reached := false
	client := start(t, slave{explain: func(_ context.Context, r *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		reached = true
		return &pb.ExplainResponse{Matches: make([]*pb.Explained, r.GetLimit())}, nil
	}}, nil)
	_, err := client.Explain(within(t, time.Minute), asked(strings.Repeat("x", 65)))
	if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "SearchRequest.request_id" || reached {
		t.Errorf("a request: %v (%s), reached: %t", err, fault.KindOf(err), reached)
	}
	_, err = client.Explain(within(t, time.Minute), &pb.ExplainRequest{Limit: 1 << 16})
	if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "ExplainResponse.matches" || !reached {
		t.Errorf("an answer: %v (%s), reached: %t", err, fault.KindOf(err), reached)
	}
	a, err := client.Explain(within(t, time.Minute), &pb.ExplainRequest{Limit: 2})
	if err != nil || len(a.GetMatches()) != 2 {
		t.Errorf("afterwards: %v, %v", a, err)
	}
}

func TestAPeerThatIsNotThereIsUnavailable(t *testing.T) {
	conn, err := wire.Dial(porttest.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = pb.NewSlaveClient(conn).Explain(within(t, 5*time.Second), &pb.ExplainRequest{})
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%v (%s)", err, fault.KindOf(err))
	}
}

// TestVersions: a call carries its program's version; a missing or invalid one counts as 1.
func TestVersions(t *testing.T) {
	seen := make(chan int, 1)
	s := slave{explain: func(ctx context.Context, _ *pb.ExplainRequest) (*pb.ExplainResponse, error) {
		seen <- wire.PeerVersion(ctx)
		return &pb.ExplainResponse{}, nil
	}}
	own := start(t, s, nil)
	if _, err := own.Explain(within(t, time.Minute), &pb.ExplainRequest{}); err != nil {
		t.Fatal(err)
	}
	if v := <-seen; v != wire.Version {
		t.Errorf("a call of this program is of version %d, want %d", v, wire.Version)
	}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(wire.SlaveOptions(words.Default, nil)...)
	pb.RegisterSlaveServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///x", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, said := range []string{"", "0", "-3", "two", "70000"} {
		ctx := within(t, time.Minute)
		if said != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "adshard-version", said)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "adshard-words", words.Version())
		var header metadata.MD
		if _, err := pb.NewSlaveClient(conn).Explain(ctx, &pb.ExplainRequest{}, grpc.Header(&header)); err != nil {
			t.Fatal(err)
		}
		if v := <-seen; v != 1 {
			t.Errorf("a program that says %q is of version %d, want 1", said, v)
		}
		if got := header.Get("adshard-version"); len(got) != 1 || got[0] != strconv.Itoa(wire.Version) {
			t.Errorf("the answer says version %v, want %d", got, wire.Version)
		}
	}
	if v := wire.PeerVersion(t.Context()); v != wire.Version {
		t.Errorf("a call in one process is of version %d, want %d", v, wire.Version)
	}
}
