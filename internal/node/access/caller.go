package access

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// Shown is a connection, or gRPC's information on one, that knows the identity of its peer.
type Shown interface{ Caller() Identity }

type connKey struct{}

// WithConn returns the context of the requests of an HTTP connection. CallerOf asks the
// connection at the time of the call.
func WithConn(ctx context.Context, conn Shown) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// CallerOf returns the identity of the caller, or the zero Identity if the caller has shown
// none.
func CallerOf(ctx context.Context) Identity {
	if conn, ok := ctx.Value(connKey{}).(Shown); ok {
		return conn.Caller()
	}
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(Shown); ok {
			return info.Caller()
		}
	}
	return Identity{}
}

// Guard checks the calls of a port.
type Guard struct {
	Table Table
	// Open lets callers that show no identity do everything, until all peers have one.
	Open bool
	// Refused is called with each refusal, if not nil.
	Refused func(who Identity, from, call string, err error)
}

// Check returns nil if the caller may make the call, and otherwise says why not. Errors:
// fault.Forbidden.
func (g *Guard) Check(ctx context.Context, call string, message any) error {
	who := CallerOf(ctx)
	if g.Open && !who.Known() {
		return nil
	}
	err := g.Table.Check(who, call, message)
	if err != nil && g.Refused != nil {
		from := "?"
		if p, ok := peer.FromContext(ctx); ok {
			from = p.Addr.String()
		}
		g.Refused(who, from, call, err)
	}
	return err
}

// ServerOptions returns the options of a gRPC server whose calls are checked.
func (g *Guard) ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if err := g.Check(ctx, info.FullMethod, req); err != nil {
				return nil, err
			}
			return handle(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if err := g.Check(s.Context(), info.FullMethod, nil); err != nil {
				return err
			}
			return handle(srv, s)
		}),
	}
}

// known implements Shown with an identity that is known in advance.
type known Identity

// Caller implements Shown.
func (k known) Caller() Identity { return Identity(k) }

// With returns a context that names the caller.
func With(ctx context.Context, who Identity) context.Context { return WithConn(ctx, known(who)) }
