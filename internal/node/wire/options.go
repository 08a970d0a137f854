package wire

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/search/words"
)

// Limits of all connections inside the cluster. gRPC's own defaults are at most 4 MiB to receive, any number of
// streams, and no deadline.
const (
	// MaxSearch bounds a request to a slave, MaxQuery a request to a master (as over HTTP), and MaxControl a
	// request to a balancer or distributor, where a table of MaxSlices must fit; all in bytes.
	MaxSearch  = 4 << 20
	MaxQuery   = 1 << 20
	MaxControl = 32 << 20
	// MaxReply bounds an answer, and MaxBucket an answer with slave data. PullRequest.max_bytes keeps buckets far
	// smaller than that, but a group is sent with all of its negatives and ads. Keywords beyond max_bytes come in
	// parts, each in an answer of its own.
	MaxReply  = 64 << 20
	MaxBucket = 1 << 30
	// MaxSearches, MaxQueries and MaxPolls bound the calls under way on one connection to a slave, to a master,
	// and to a balancer or distributor.
	MaxSearches = 1024
	MaxQueries  = 256
	MaxPolls    = 64
	// MaxHeader bounds a call's headers, in bytes.
	MaxHeader = 16 << 10

	// window is how much a peer may send on a connection to a slave before the slave has read it. A fixed window
	// saves the pings with which gRPC would look for a better one.
	window = 1 << 20

	// maxAge is how long a connection accepts new calls; the next connection is made with newer certificates.
	// leaveTime is longer than a stream lasts.
	maxAge    = time.Hour
	leaveTime = 75 * time.Minute
)

// SlaveOptions returns the options of a slave's server, followed by `more` (see serverOptions). Its words have stems in
// these languages.
func SlaveOptions(languages words.Languages, onPanic func(method string, cause any), more ...grpc.ServerOption) []grpc.ServerOption {
	own := serverOptions(languages, MaxSearch, MaxSearches, onPanic)
	own = append(own, grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))
	return append(append(own, more...), checkedWords(languages))
}

// QueryOptions returns the options of a master's server for queries, followed by `more` (see serverOptions).
func QueryOptions(onPanic func(method string, cause any), more ...grpc.ServerOption) []grpc.ServerOption {
	return append(serverOptions(words.Default, MaxQuery, MaxQueries, onPanic), more...)
}

// ControlOptions returns the options of the server of a balancer or distributor, followed by `more` (see
// serverOptions). Its words have stems in these languages.
func ControlOptions(languages words.Languages, onPanic func(method string, cause any), more ...grpc.ServerOption) []grpc.ServerOption {
	return append(append(serverOptions(languages, MaxControl, MaxPolls, onPanic), more...), checkedWords(languages))
}

// serverOptions returns the options of a server: limits, keep-alive, and interceptors that refuse calls without a
// deadline and messages that exceed a bound, and turn panics and errors into statuses. `onPanic` is called with
// each panic that a handler did not catch; it may be nil.
func serverOptions(languages words.Languages, message int, streams uint32, onPanic func(method string, cause any)) []grpc.ServerOption {
	c := newCodec()
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(c),
		grpc.MaxRecvMsgSize(message),
		grpc.MaxSendMsgSize(MaxBucket),
		grpc.MaxConcurrentStreams(streams),
		grpc.MaxHeaderListSize(MaxHeader),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 5 * time.Second,
			MaxConnectionAge: maxAge, MaxConnectionAgeGrace: leaveTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(guard(c, languages, onPanic)),
		grpc.StreamInterceptor(guardStream(languages, onPanic)),
	}
}

// ClientOptions returns the options of every client of the cluster: limits, keep-alive, quick reconnection, and
// the translation of statuses into faults. Its words have stems in these languages.
func ClientOptions(languages words.Languages) []grpc.DialOption {
	c := newCodec()
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(c), grpc.MaxCallRecvMsgSize(MaxReply), grpc.MaxCallSendMsgSize(MaxControl)),
		grpc.WithMaxHeaderListSize(4 * MaxHeader),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		}),
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
		grpc.WithUnaryInterceptor(translate(c, languages)),
		grpc.WithStreamInterceptor(versionStream(languages)),
	}
}

// Dial makes a client connection to an address (host:port) with ClientOptions and `more`. It connects in the
// background. The caller closes the connection. It is for calls to which the languages do not matter.
func Dial(address string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	return dial(address, words.Default, more)
}

// DialIn is like Dial, for all calls: the program's words have stems in these languages.
func DialIn(languages words.Languages, address string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	return dial(address, languages, more)
}

// DialStream is like Dial, for a connection that carries a stream.
func DialStream(address string, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	return dial(address, words.Default, more, grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window))
}

func dial(address string, languages words.Languages, more []grpc.DialOption, own ...grpc.DialOption) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, slices.Concat(ClientOptions(languages), own, more)...)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "wire: dial", "address %q: %w", address, err)
	}
	conn.Connect()
	return conn, nil
}

// translate turns the statuses of calls into faults. It refuses calls without a deadline before they are sent,
// and answers that exceed a bound.
func translate(c *codec, languages words.Languages) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
		invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if err := needDeadline(ctx, method); err != nil {
			return err
		}
		var header metadata.MD
		if hashed(method) {
			opts = append(opts, grpc.Header(&header))
		}
		err := invoke(withVersion(ctx, languages), method, req, reply, conn, opts...)
		if err == nil && hashed(method) {
			err = SameWords(method, conn.CanonicalTarget(), wordsOf(header), languages)
		}
		if refused := c.refusal(reply); refused != nil {
			return fmt.Errorf("the answer of %s to %s is refused: %w", conn.CanonicalTarget(), method, refused)
		}
		return FromStatus(err)
	}
}

// guard refuses calls without a deadline and requests that exceed a bound. It catches panics and turns errors
// into statuses.
func guard(c *codec, languages words.Languages, onPanic func(string, any)) grpc.UnaryServerInterceptor {
	own := ownVersion(languages)
	handled := func(ctx context.Context, req any, method string, handle grpc.UnaryHandler) (reply any, err error) {
		defer fault.Recover(method, &err, func(cause any) {
			if onPanic != nil {
				onPanic(method, cause)
			}
		})
		if err := c.refusal(req); err != nil {
			return nil, err
		}
		if err := needDeadline(ctx, method); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, timeOver(ctx, method)
		}
		return handle(ctx, req)
	}
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		_ = grpc.SetHeader(ctx, own)
		reply, err := handled(ctx, req, info.FullMethod, handle)
		return reply, ToStatus(err)
	}
}

// guardStream does for streams what guard does for calls. Streams need no deadline, and check their messages
// themselves.
func guardStream(languages words.Languages, onPanic func(string, any)) grpc.StreamServerInterceptor {
	own := ownVersion(languages)
	handled := func(srv any, s grpc.ServerStream, method string, handle grpc.StreamHandler) (err error) {
		defer fault.Recover(method, &err, func(cause any) {
			if onPanic != nil {
				onPanic(method, cause)
			}
		})
		return handle(srv, s)
	}
	return func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		_ = s.SetHeader(own)
		return ToStatus(handled(srv, s, info.FullMethod, handle))
	}
}

func needDeadline(ctx context.Context, method string) error {
	if _, ok := ctx.Deadline(); !ok {
		return fault.Newf(fault.Invalid, method, "a call without a deadline is refused; set one")
	}
	return nil
}
