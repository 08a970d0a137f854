package wire

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"adshard/fault"
)

// Limits of all connections inside the cluster. gRPC's own defaults are 4 MiB
// to receive, any number of streams and no deadline.
const (
	// MaxMessage bounds a request in bytes.
	MaxMessage = 64 << 20
	// MaxAnswer bounds an answer. PullRequest.max_bytes keeps buckets of node
	// data far below it, but a single group goes with all that it holds: some
	// three million keywords fit.
	MaxAnswer = 1 << 30
	// MaxStreams bounds the calls at a time on one connection.
	MaxStreams = 1024
	// MaxHeader bounds a call's headers in bytes.
	MaxHeader = 16 << 10
)

// ServerOptions returns the options of every server of the cluster: limits,
// keep-alive, refusal of calls without a deadline, panics and errors turned
// into statuses. onPanic is told of each panic that a handler let through; it
// may be nil.
func ServerOptions(onPanic func(method string, cause any)) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxAnswer),
		grpc.MaxConcurrentStreams(MaxStreams),
		grpc.MaxHeaderListSize(MaxHeader),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(guard(onPanic)),
	}
}

// ClientOptions returns the options of every client of the cluster: limits,
// keep-alive, quick reconnection, statuses turned into faults.
func ClientOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxAnswer), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		}),
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
		grpc.WithUnaryInterceptor(translate),
	}
}

// Dial makes a client connection to address (host:port) with ClientOptions. It
// connects in the background. Close it.
func Dial(address string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, ClientOptions()...)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "wire: dial", "address %q: %w", address, err)
	}
	conn.Connect()
	return conn, nil
}

// translate turns the statuses of calls into faults and refuses calls without
// a deadline before they leave.
func translate(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := needDeadline(ctx, method); err != nil {
		return err
	}
	return FromStatus(invoke(ctx, method, req, reply, conn, opts...))
}

// guard refuses calls without a deadline, catches panics and turns errors into
// statuses.
func guard(onPanic func(string, any)) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (reply any, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				if onPanic != nil {
					onPanic(info.FullMethod, cause)
				}
				err = ToStatus(fault.Newf(fault.Internal, info.FullMethod, "panic: %v; please report it", cause))
			}
		}()
		if err := needDeadline(ctx, info.FullMethod); err != nil {
			return nil, ToStatus(err)
		}
		if ctx.Err() != nil {
			return nil, ToStatus(timeOver(ctx, info.FullMethod))
		}
		reply, err = handle(ctx, req)
		return reply, ToStatus(err)
	}
}

func needDeadline(ctx context.Context, method string) error {
	if _, ok := ctx.Deadline(); !ok {
		return fault.Newf(fault.Invalid, method, "a call without a deadline is refused; set one")
	}
	return nil
}
