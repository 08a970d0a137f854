package certs

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"google.golang.org/grpc"
)

// Queries says how a master's ports for queries use TLS. A nil *Queries means that they do not.
// Make it with QueryTLS.Open.
type Queries struct {
	side   side
	counts counts
}

// Open reads the files. It returns nil if TLS is off.
func (q *QueryTLS) Open(log *slog.Logger) (*Queries, error) {
	if q.Mode == Off {
		return nil, nil
	}
	out := &Queries{side: side{mode: q.Mode, clients: none, recheck: recheckEvery, log: log}}
	out.side.counts = &out.counts
	cert, key := q.Cert, q.Key
	var err error
	out.side.own, err = newWatched(log, func() (*material, error) { return readPair(cert, key) }, cert, key)
	if err != nil {
		return nil, fmt.Errorf("config: query_tls.%w", err)
	}
	return out, nil
}

// Listener returns a listener for queries over HTTP.
func (q *Queries) Listener(l net.Listener) net.Listener {
	if q == nil {
		return l
	}
	s := q.side
	s.protocol = "http/1.1"
	return &listener{l, &s}
}

// ServerOptions returns the options of a server for queries over gRPC.
func (q *Queries) ServerOptions() []grpc.ServerOption {
	if q == nil {
		return nil
	}
	s := q.side
	s.protocol = "h2"
	return []grpc.ServerOption{grpc.Creds(&serverCreds{&s})}
}

// Run watches the files until ctx is done, like Credentials.Run.
func (q *Queries) Run(ctx context.Context) {
	if q != nil {
		(&warner{own: q.side.own, advice: "put the next one into the files of query_tls", log: q.side.log}).run(ctx)
	}
}

// Scheme returns the scheme of the URLs for queries.
func (q *Queries) Scheme() string {
	if q == nil {
		return "http"
	}
	return "https"
}
