package loadproxy

import (
	"context"

	"adshard/schema/pb"
)

// Balancer is the calls that a slave makes to its balancer. Errors have fault kinds; each call
// ends with its context.
type Balancer interface {
	Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error)
	Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error)
	// Distributor returns the distributor at an address; "" means the balancer's own. It returns
	// without waiting for a connection; close closes the connection.
	Distributor(address string) (d Distributor, close func() error, err error)
}

// Distributor is the calls that a slave makes to its distributor. Errors are as for Balancer.
type Distributor interface {
	Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error)
	Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error)
	Part(ctx context.Context, r *pb.PartRequest) (*pb.PartResponse, error)
	Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error)
}

// Copier replaces the store in the slave's directory with a copy of another slave's.
type Copier interface {
	// Copy returns when the copy is complete; barrels.Store.Reload then opens it. After an error,
	// the next call continues with what has arrived, from the same source or another one. Errors:
	// those of copying.Fill.
	Copy(ctx context.Context, source *pb.Replica, database string) error
	// Copying returns the progress of the copy under way, or nil if there is none.
	Copying() *pb.CopyState
	// Discard removes the files of an unfinished copy.
	Discard() error
}
