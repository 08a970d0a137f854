package balancer

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"

	"adshard/backend"
	"adshard/balance"
	"adshard/events"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/distributor"
	"adshard/internal/node/feed"
	"adshard/internal/node/ports"
	"adshard/internal/node/spend"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Host keeps a balancer running at one address. When a balancer ends because the history of its
// database has changed, the next one starts in its place; meanwhile callers are asked to retry. A
// host that stands by has no balancer as long as another host of its cluster leads.
type Host struct {
	pb.UnimplementedBalancerServer
	pb.UnimplementedDistributorServer
	cfg      Config
	order    balance.Order
	db       backend.Store
	store    control.Store
	me       control.Candidate
	standsBy bool // the host stands by whenever it does not lead
	announce func(what string)
	spend    *spend.Reader // nil if no spend is shown
	log      *slog.Logger
	now      atomic.Pointer[Balancer] // nil while the next is starting or another host leads
	last     atomic.Pointer[Balancer] // the newest, even if it has ended; nil if another host leads
	standby  atomic.Pointer[standby]  // nil if the host leads or is starting to
}

// NewHost returns the host of a balancer that leads and does not run yet. The cluster must have no
// other host.
func NewHost(b *Balancer) *Host {
	h := &Host{cfg: b.cfg, order: b.order, db: b.db, store: b.store, me: control.Candidate{Address: b.cfg.Advertise}, log: b.root,
		announce: func(string) {}, spend: spendOf(&b.cfg, b.db, b.root)}
	h.now.Store(b)
	h.last.Store(b)
	return h
}

// spendOf returns the reader of the campaigns' spend, or nil if no spend is shown.
func spendOf(c *Config, db backend.Store, log *slog.Logger) *spend.Reader {
	if c.Events == "" {
		return nil
	}
	named := func(ctx context.Context) (string, error) { return events.Name(ctx, db) }
	return &spend.Reader{URL: c.Events, Named: named, Now: time.Now, Log: log}
}

// Serve runs the balancer and serves slaves and masters on listener, which it closes. It returns
// nil when ctx is done, or the error that keeps the balancer from going on.
func (h *Host) Serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer(wire.ControlOptions(h.cfg.Languages, func(method string, cause any) {
		h.log.Error("a call panicked", "method", method, "cause", cause)
	}, h.cfg.Credentials.ServerOptions()...)...)
	pb.RegisterBalancerServer(server, h)
	if h.cfg.Distribute {
		pb.RegisterDistributorServer(server, h)
	}
	if h.spend != nil {
		defer func() { _ = h.spend.Close() }() // the reader writes nothing
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ports.ServePolls(ctx, server, listener) })
	group.Go(func() error { return h.run(ctx) })
	group.Go(func() error {
		h.watchServer(ctx)
		return nil
	})
	return group.Wait()
}

// run runs one balancer after another until ctx is done.
func (h *Host) run(ctx context.Context) error {
	for next := h.last.Load(); ; {
		if next == nil {
			var err error
			if next, err = h.stand(ctx); err != nil {
				return ended(ctx, err)
			}
		}
		err := next.Run(ctx)
		h.now.Store(nil)
		switch {
		case errors.Is(err, errSucceeded):
			next, err = h.succeed(ctx, next.restarts)
			if h.standsBy && fault.Is(err, fault.Conflict) {
				next, err = nil, nil // another host was faster
			}
			if err != nil {
				return ended(ctx, err)
			}
		case h.standsBy && isReplaced(err):
			h.log.Warn("another balancer leads; standing by", "why", err)
			next = nil
		default:
			h.resign(next)
			return err
		}
	}
}

// ended returns err, or nil when ctx has ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// isReplaced reports whether an error means that another balancer has taken over.
func isReplaced(err error) bool {
	var r *control.Replaced
	return errors.As(err, &r)
}

// resignTime bounds the time for giving up the lease when the process ends.
const resignTime = 2 * time.Second

// resign lets another balancer lead at once.
func (h *Host) resign(b *Balancer) {
	ctx, cancel := context.WithTimeout(context.Background(), resignTime)
	defer cancel()
	if err := b.leadership.Resign(ctx); err != nil && !isReplaced(err) {
		h.log.Warn("the lease is not given up; it ends by itself", "err", err)
	}
}

// lead creates the balancer of a term and starts it. `restarts` is the previous balancer's limiter,
// or nil if there was none.
func (h *Host) lead(ctx context.Context, term control.Term, all *items, restarts *rate.Limiter) (*Balancer, error) {
	b, err := lead(ctx, h.cfg, h.order, h.db, h.store, term, all, h.log)
	if err != nil {
		return nil, err
	}
	if restarts != nil {
		b.restarts = restarts
	}
	h.last.Store(b)
	h.now.Store(b)
	h.standby.Store(nil)
	h.announce("ready")
	return b, nil
}

// succeed starts the next balancer as soon as the database allows it.
func (h *Host) succeed(ctx context.Context, restarts *rate.Limiter) (*Balancer, error) {
	for {
		var next *Balancer
		term, err := h.store.TakeOver(ctx, h.me)
		if err == nil {
			next, err = h.lead(ctx, term, nil, restarts)
		}
		if err == nil {
			return next, nil
		}
		if ctx.Err() != nil || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
			return nil, err
		}
		h.log.Warn("the next balancer cannot start; trying again", "err", err)
		if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
			return nil, err
		}
	}
}

// Ready returns why the balancer cannot do its work. A host that stands by gives the reasons why it
// could not take over.
func (h *Host) Ready() []string {
	if s := h.standby.Load(); s != nil {
		return s.ready()
	}
	if h.now.Load() == nil {
		return []string{"the balancer is starting over, since the history of its database has changed"}
	}
	return adminControl{h.last.Load()}.ready()
}

// at returns the balancer that is at work. Errors: fault.Unavailable, with the name of the leader
// if another host leads.
func (h *Host) at() (*Balancer, error) {
	b := h.now.Load()
	switch {
	case b != nil && b.leadership.Valid():
		return b, nil
	case b != nil:
		return nil, b.suspended()
	}
	if s := h.standby.Load(); s != nil {
		return nil, s.refusal()
	}
	return nil, fault.Newf(fault.Unavailable, "balancer", "the balancer is starting over; ask again after a pause")
}

// suspended returns the error of a balancer whose lease has expired.
func (b *Balancer) suspended() error {
	return fault.Newf(fault.Unavailable, "balancer", "the balancer with epoch %d could not renew its lease in time and decides nothing until it can", b.Epoch())
}

// distributor returns the distributor of the running balancer.
func (h *Host) distributor() (*distributor.Distributor, error) {
	b, err := h.at()
	if err != nil {
		return nil, err
	}
	return b.distributor, nil
}

// forward makes a call to the balancer that runs now.
func forward[T, Q, R any](at func() (T, error), call func(T, context.Context, Q) (R, error), ctx context.Context, q Q) (R, error) {
	var r R
	to, err := at()
	if err == nil {
		r, err = call(to, ctx, q)
	}
	return r, err
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

// Lead implements pb.BalancerServer.
func (h *Host) Lead(context.Context, *pb.LeadRequest) (*pb.LeadResponse, error) {
	b, err := h.at()
	if err != nil {
		return nil, err
	}
	return &pb.LeadResponse{Epoch: b.Epoch()}, nil
}

// EventKeys implements pb.BalancerServer.
func (h *Host) EventKeys(ctx context.Context, r *pb.EventKeysRequest) (*pb.EventKeysResponse, error) {
	return forward(h.at, (*Balancer).EventKeys, ctx, r)
}

// WatchDocuments implements pb.BalancerServer.
func (h *Host) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	return forward(h.at, func(b *Balancer, ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
		return b.documents.WatchDocuments(ctx, r)
	}, ctx, r)
}

// DocumentPart implements pb.BalancerServer.
func (h *Host) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	return forward(h.at, func(b *Balancer, ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
		return b.documents.DocumentPart(ctx, r)
	}, ctx, r)
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
