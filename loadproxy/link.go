package loadproxy

import (
	"context"

	"adshard/schema/pb"
)

// Balancer has the calls of a slave to its balancer. Errors have fault kinds; each
// call ends with its context.
type Balancer interface {
	Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error)
	Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error)
	// Distributor returns the distributor at an address; "" means the balancer's
	// own. It returns at once; close closes the connection.
	Distributor(address string) (d Distributor, close func() error, err error)
}

// Distributor has the calls of a slave to its distributor; errors as of Balancer.
type Distributor interface {
	Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error)
	Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error)
	Part(ctx context.Context, r *pb.PartRequest) (*pb.PartResponse, error)
	Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error)
}

// Copier makes the store of another slave the one in the slave's directory.
type Copier interface {
	// Copy returns when the copy is complete; opening the store again (barrels.Store.Reload) then
	// opens the copy. After an error the next call continues with what has arrived, from this
	// source or another one. Errors: those of copying.Fill.
	Copy(ctx context.Context, source *pb.Replica, database string) error
	// Copying returns the progress of a copy under way, or nil if there is
	// none.
	Copying() *pb.CopyState
	// Discard removes what an unfinished copy has left.
	Discard() error
}
