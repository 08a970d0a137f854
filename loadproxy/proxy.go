package loadproxy

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Proxy keeps one store up to date. New makes a proxy, and Run runs it.
type Proxy struct {
	cfg      Config
	store    barrels.Store
	balancer Balancer
	log      *slog.Logger
	state    watched
	upkeep   *upkeep
	repairs  *repairs
	copies   holds
	replace  replacement
	reported atomic.Int64  // when the balancer last accepted a report, in ns since 1970
	news     chan struct{} // full if the table of slices has changed
	loads    atomic.Uint64 // number of reports of load so far
	behind   lagging
	// unverified has the value of barrels.Store.Unverified.
	unverified atomic.Bool
	recheck    recheck

	// Only Run's goroutine uses the fields below.

	home  registration // from the last registration
	epoch uint64       // from the last Enlist
	// catchUp is the clock to reach, as named at the first Enlist or at one that requires a
	// refill. It is nil before that, and again once the clock is reached.
	catchUp   *uint64
	settled   bool           // the first Enlist has succeeded
	copied    *pb.Copied     // the slave that the store was copied from; nil if there is none, or if the balancer knows it
	refill    bool           // the store's data are unusable, and it waits for a reset
	idle      int            // pulls without a bucket since the last bucket
	pauses    wait.Backoff   // after failures
	complaint wait.Complaint // of failures
}

// New returns a proxy for store, and marks the store as not caught up.
func New(cfg Config, store barrels.Store, balancer Balancer, log *slog.Logger) (*Proxy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Proxy{cfg: cfg, store: store, balancer: balancer, log: log,
		news: make(chan struct{}, 1), pauses: wait.Backoff{Least: cfg.Backoff, Most: cfg.MaxBackoff}, behind: lagging{start: time.Now()}}
	p.repairs = newRepairs()
	p.upkeep = newUpkeep(store, cfg, p.log)
	p.upkeep.damaged = func(err error) { p.repairs.recreate(err.Error()) }
	p.unverified.Store(store.Unverified())
	store.SetCaughtUp(false)
	p.refresh()
	store.OnDamage(p.onDamage)
	return p, nil
}

// Run works until ctx is done, and then returns nil. Errors of the balancer, the distributor and
// the store are logged and shown by State, and the calls are retried.
func (p *Proxy) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts.Go(func() { p.upkeep.run(ctx) })
	parts.Go(func() { p.grace(ctx) })
	parts.Go(func() { p.watch(ctx) })
	for ctx.Err() == nil {
		err := p.discardDamaged(ctx)
		if err == nil {
			err = p.session(ctx)
		}
		if err != nil && ctx.Err() == nil {
			p.failed(ctx, err)
		}
	}
	return nil
}

// grace lets the store serve its data if no distributor has answered within the grace time.
func (p *Proxy) grace(ctx context.Context) {
	if wait.Sleep(ctx, p.cfg.Grace) != nil {
		return
	}
	p.state.change(func(s *State) {
		if s.Registered || s.CaughtUp || s.Refused || s.Unverified {
			return
		}
		if !p.holds() || OnlyFilling(p.store.Slices()) {
			p.log.Warn("no balancer within the grace time, and the store has nothing to serve", "grace", p.cfg.Grace)
			return
		}
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
		p.log.Warn("no balancer within the grace time; serving the existing data", "grace", p.cfg.Grace)
	})
	p.refresh()
}

// reached reports whether the store has usable data and has reached the clock named at its first
// registration. It compares only clocks: epochs and quanta are the balancer's concern, and slices
// that are being filled are not served in any case.
func (p *Proxy) reached() bool {
	return !p.refill && p.store.Position().GetClock() >= *p.catchUp
}

// settle declares the store caught up, and so lets it serve, if it is.
func (p *Proxy) settle() {
	p.verify()
	if p.catchUp == nil || !p.reached() || OnlyFilling(p.store.Slices()) || p.holdsBack() {
		return
	}
	p.catchUp = nil
	p.state.change(func(s *State) {
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
	})
	p.refresh()
	p.log.Info("caught up", "clock", p.store.Position().GetClock())
	if p.cfg.Copier != nil {
		if err := p.cfg.Copier.Discard(); err != nil {
			p.log.Warn("what an unfinished copy has left cannot be removed", "err", err)
		}
	}
}

// failed reports err and pauses, for longer after each failure in a row.
func (p *Proxy) failed(ctx context.Context, err error) {
	p.state.change(func(s *State) { s.Trouble, s.TroubleKind, s.Retries = err.Error(), fault.KindOf(err), s.Retries+1 })
	if p.complaint.Tell(err) {
		p.log.Warn("no progress; retrying", "kind", fault.KindOf(err).String(), "err", err)
	}
	p.settle()              // it may have waited for a balancer that no longer answers
	_ = p.pauses.Sleep(ctx) // the caller checks ctx
}
