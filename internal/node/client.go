package node

import (
	"context"

	"google.golang.org/grpc"

	"adshard/internal/node/wire"
	"adshard/loadproxy"
	"adshard/schema/pb"
)

// balancerClient is a balancer reached by gRPC, as loadproxy and fanout ask it.
type balancerClient struct{ conn *grpc.ClientConn }

// Register implements loadproxy.Balancer.
func (c balancerClient) Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	return pb.NewBalancerClient(c.conn).Register(ctx, r)
}

// Report implements loadproxy.Balancer.
func (c balancerClient) Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	return pb.NewBalancerClient(c.conn).Report(ctx, r)
}

// Distributor implements loadproxy.Balancer.
func (c balancerClient) Distributor(address string) (loadproxy.Distributor, func() error, error) {
	if address == "" {
		return distributorClient(c), func() error { return nil }, nil
	}
	conn, err := wire.Dial(address)
	if err != nil {
		return nil, nil, err
	}
	return distributorClient{conn}, conn.Close, nil
}

// WatchMap implements fanout.Source.
func (c balancerClient) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	return pb.NewBalancerClient(c.conn).WatchMap(ctx, r)
}

// distributorClient is a distributor reached by gRPC.
type distributorClient struct{ conn *grpc.ClientConn }

// Enlist implements loadproxy.Distributor.
func (c distributorClient) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	return pb.NewDistributorClient(c.conn).Enlist(ctx, r)
}

// Pull implements loadproxy.Distributor.
func (c distributorClient) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	return pb.NewDistributorClient(c.conn).Pull(ctx, r, grpc.MaxCallRecvMsgSize(wire.MaxBucket))
}

// Verify implements loadproxy.Distributor.
func (c distributorClient) Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	return pb.NewDistributorClient(c.conn).Verify(ctx, r)
}

// Quanta implements quanta.
func (c balancerClient) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return pb.NewBalancerClient(c.conn).Quanta(ctx, r)
}
