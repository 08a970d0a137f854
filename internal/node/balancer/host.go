package balancer

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/distributor"
	"adshard/internal/node/feed"
	"adshard/internal/node/ports"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Host keeps a balancer running behind one address. When one ends because the
// history of its database has changed, the next starts in its place; callers are
// asked to retry meanwhile.
type Host struct {
	pb.UnimplementedBalancerServer
	pb.UnimplementedDistributorServer
	begin func(ctx context.Context) (*Balancer, error) // the next
	log   *slog.Logger
	now   atomic.Pointer[Balancer] // nil: the next is starting
	last  atomic.Pointer[Balancer] // the newest, even if it has ended; never nil
}

// NewHost returns the host of a balancer that does not run yet.
func NewHost(b *Balancer) *Host {
	h := &Host{log: b.log, begin: func(ctx context.Context) (*Balancer, error) {
		next, err := New(ctx, b.cfg, b.db, b.root)
		if err == nil {
			next.restarts = b.restarts
		}
		return next, err
	}}
	h.now.Store(b)
	h.last.Store(b)
	return h
}

// Serve runs the balancer and serves slaves and masters on listener, which it
// closes, until ctx is done (nil) or the balancer cannot continue.
func (h *Host) Serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer(wire.ControlOptions(func(method string, cause any) {
		h.log.Error("a call panicked", "method", method, "cause", cause)
	})...)
	pb.RegisterBalancerServer(server, h)
	if h.last.Load().distributor != nil {
		pb.RegisterDistributorServer(server, h)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ports.ServePolls(ctx, server, listener) })
	group.Go(func() error { return h.run(ctx) })
	return group.Wait()
}

// run runs one balancer after another until ctx is done.
func (h *Host) run(ctx context.Context) error {
	for {
		err := h.last.Load().Run(ctx)
		if !errors.Is(err, errSucceeded) {
			return err
		}
		h.now.Store(nil)
		if err := h.succeed(ctx); err != nil {
			return err
		}
	}
}

// succeed starts the next balancer as soon as the database permits.
func (h *Host) succeed(ctx context.Context) error {
	for {
		next, err := h.begin(ctx)
		if err == nil {
			h.last.Store(next)
			h.now.Store(next)
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
			return err
		}
		h.log.Warn("the next balancer cannot start; trying again", "err", err)
		if wait.Sleep(ctx, feed.RetryAfter) != nil {
			return nil
		}
	}
}

// Ready returns why the balancer cannot do its work.
func (h *Host) Ready() []string {
	if h.now.Load() == nil {
		return []string{"the balancer is starting over, since the history of its database has changed"}
	}
	return control{h.last.Load()}.ready()
}

// at returns the running balancer.
func (h *Host) at() (*Balancer, error) {
	if b := h.now.Load(); b != nil {
		return b, nil
	}
	return nil, fault.Newf(fault.Unavailable, "balancer", "the balancer is starting over; ask again after a pause")
}

// distributor returns the distributor of the running balancer.
func (h *Host) distributor() (*distributor.Distributor, error) {
	b, err := h.at()
	if err != nil {
		return nil, err
	}
	return b.distributor, nil
}

// forward makes a call on the balancer that runs now.
func forward[T, Q, R any](at func() (T, error), call func(T, context.Context, Q) (R, error), ctx context.Context, q Q) (R, error) {
	to, err := at()
	if err != nil {
		var none R
		return none, err
	}
	return call(to, ctx, q)
}

// Register implements pb.BalancerServer.
func (h *Host) Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	return forward(h.at, (*Balancer).Register, ctx, r)
}

// Report implements pb.BalancerServer.
func (h *Host) Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	return forward(h.at, (*Balancer).Report, ctx, r)
}

// WatchMap implements pb.BalancerServer.
func (h *Host) WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error) {
	return forward(h.at, (*Balancer).WatchMap, ctx, r)
}

// Quanta implements pb.BalancerServer.
func (h *Host) Quanta(ctx context.Context, r *pb.QuantaRequest) (*pb.QuantaResponse, error) {
	return forward(h.at, (*Balancer).Quanta, ctx, r)
}

// Enlist implements pb.DistributorServer.
func (h *Host) Enlist(ctx context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	return forward(h.distributor, (*distributor.Distributor).Enlist, ctx, r)
}

// Pull implements pb.DistributorServer.
func (h *Host) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	return forward(h.distributor, (*distributor.Distributor).Pull, ctx, r)
}

// Part implements pb.DistributorServer.
func (h *Host) Part(ctx context.Context, r *pb.PartRequest) (*pb.PartResponse, error) {
	return forward(h.distributor, (*distributor.Distributor).Part, ctx, r)
}

// Verify implements pb.DistributorServer.
func (h *Host) Verify(ctx context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	return forward(h.distributor, (*distributor.Distributor).Verify, ctx, r)
}
