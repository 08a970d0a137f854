// Package remote has clients that reach a balancer or a distributor by gRPC.
package remote

import (
	"context"

	"google.golang.org/grpc"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/wire"
	"adshard/loadproxy"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Balancer is a balancer reached by gRPC, in the form that loadproxy and fanout use.
type Balancer struct {
	Conn *grpc.ClientConn
	Own  *certs.Credentials // with which it reaches distributors
	// Languages are those whose words have stems in this process.
	Languages words.Languages
}

// Register implements loadproxy.Balancer.
func (c Balancer) Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	return pb.NewBalancerClient(c.Conn).Register(ctx, r)
}

// Report implements loadproxy.Balancer.
func (c Balancer) Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	return pb.NewBalancerClient(c.Conn).Report(ctx, r)
}

// Distributor implements loadproxy.Balancer.
func (c Balancer) Distributor(address string) (loadproxy.Distributor, func() error, error) {
	if address == "" {
		return Distributor{c.Conn}, func() error { return nil }, nil
	}
	conn, err := wire.DialIn(c.Languages, address, c.Own.To("", access.Distributor, access.Balancer)...)
	if err != nil {
		return nil, nil, err
	}
	return Distributor{conn}, conn.Close, nil
}

// WatchMap implements fanout.Source.
func (c Balancer) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	return pb.NewBalancerClient(c.Conn).WatchMap(ctx, r)
}

// EventKeys returns the keys with which masters sign event tokens.
func (c Balancer) EventKeys(ctx context.Context, r *pb.EventKeysRequest) (*pb.EventKeysResponse, error) {
	return pb.NewBalancerClient(c.Conn).EventKeys(ctx, r)
}

// WatchDocuments implements documents.Source.
func (c Balancer) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	return pb.NewBalancerClient(c.Conn).WatchDocuments(ctx, r)
}

// DocumentPart implements documents.Source.
func (c Balancer) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	return pb.NewBalancerClient(c.Conn).DocumentPart(ctx, r)
}

// Distributor is a distributor reached by gRPC.
type Distributor struct{ Conn *grpc.ClientConn }

// Enlist implements loadproxy.Distributor.
func (c Distributor) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	return pb.NewDistributorClient(c.Conn).Enlist(ctx, r)
}

// Pull implements loadproxy.Distributor.
func (c Distributor) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	return pb.NewDistributorClient(c.Conn).Pull(ctx, r, grpc.MaxCallRecvMsgSize(wire.MaxBucket))
}

// Part implements loadproxy.Distributor.
func (c Distributor) Part(ctx context.Context, r *pb.PartRequest) (*pb.PartResponse, error) {
	return pb.NewDistributorClient(c.Conn).Part(ctx, r)
}

// Verify implements loadproxy.Distributor.
func (c Distributor) Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	return pb.NewDistributorClient(c.Conn).Verify(ctx, r)
}

// Quanta asks for the quanta that follow the last one that a distributor has.
func (c Balancer) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return pb.NewBalancerClient(c.Conn).Quanta(ctx, r)
}
