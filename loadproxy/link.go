package loadproxy

import (
	"context"

	"adshard/schema/pb"
)

// Balancer is what a slave asks of the balancer. Its errors have fault kinds;
// each call ends with its context.
type Balancer interface {
	Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error)
	Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error)
	// Distributor returns the distributor at an address, "": the balancer's own.
	// It returns at once; close ends the connection.
	Distributor(address string) (d Distributor, close func() error, err error)
}

// Distributor is whom a slave pulls node data from; as Balancer.
type Distributor interface {
	Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error)
	Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error)
	Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error)
}
