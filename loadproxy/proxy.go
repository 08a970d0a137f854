package loadproxy

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

// Proxy keeps one store up to date. Make it with New, start it with Run.
type Proxy struct {
	cfg      Config
	store    barrels.Store
	balancer Balancer
	log      *slog.Logger
	state    watched
	upkeep   *upkeep
	repairs  *repairs
	reported atomic.Int64  // when the balancer last took a report, in ns since 1970
	news     chan struct{} // full: the table of slices has changed
	loads    atomic.Uint64 // reports of load so far

	// What follows is used by Run's goroutine only.

	home  registration // as last registered
	epoch uint64       // last enlisted in
	// catchUp is the clock named at the first enlisting, or at one that requires a
	// refill; nil before that and after it was reached.
	catchUp *uint64
	settled bool          // the first enlisting was made
	refill  bool          // the store's data are of no use: it waits for a reset
	idle    int           // pulls without a bucket since the last bucket
	pause   time.Duration // after the next failure
}

// registration is where the slave belongs.
type registration struct {
	registered         bool
	epoch              uint64
	distributor        string
	database, timeline string
	// discard: the slave's data are of another database and may be discarded.
	discard bool
}

// New returns a proxy of store. From now on the store counts as not caught up.
func New(cfg Config, store barrels.Store, balancer Balancer, log *slog.Logger) (*Proxy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Proxy{cfg: cfg, store: store, balancer: balancer, log: log,
		news: make(chan struct{}, 1), pause: cfg.Backoff}
	p.repairs = newRepairs()
	p.upkeep = newUpkeep(store, cfg, p.log)
	p.upkeep.damaged = func(err error) { p.repairs.anew(err.Error()) }
	store.SetCaughtUp(false)
	p.refresh()
	store.OnDamage(p.met)
	return p, nil
}

// Run works until ctx is done; it returns nil then. Errors of balancer, distributor
// and store are logged and shown by State, and their calls are retried.
func (p *Proxy) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts.Go(func() { p.upkeep.run(ctx) })
	parts.Go(func() { p.grace(ctx) })
	parts.Go(func() { p.watch(ctx) })
	for ctx.Err() == nil {
		err := p.mend(ctx)
		if err == nil {
			err = p.session(ctx)
		}
		if err != nil && ctx.Err() == nil {
			p.failed(ctx, err)
		}
	}
	return nil
}

// grace lets the store serve its data if no distributor has answered in time.
func (p *Proxy) grace(ctx context.Context) {
	if wait.Sleep(ctx, p.cfg.Grace) != nil {
		return
	}
	p.state.change(func(s *State) {
		if s.Registered || s.CaughtUp || s.Refused || s.Unverified {
			return
		}
		if !p.holds() || OnlyFilling(p.store.Slices()) {
			p.log.Warn("no balancer within the grace time, and there is nothing to serve", "grace", p.cfg.Grace)
			return
		}
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
		p.log.Warn("no balancer within the grace time; serving the data that are here", "grace", p.cfg.Grace)
	})
	p.refresh()
}

// session registers and enlists, then pulls, applies and reports until
// something fails or the slave belongs elsewhere (nil).
func (p *Proxy) session(ctx context.Context) error {
	table := p.store.Slices()
	if err := p.register(ctx, table); err != nil && !p.alone(err) {
		return err
	}
	distributor, hangUp, err := p.balancer.Distributor(p.home.distributor)
	if err != nil {
		return err
	}
	defer hangUp()
	epoch, err := p.enlist(ctx, distributor, table)
	if err != nil || epoch == 0 {
		return err
	}
	ctx, leave := context.WithCancel(ctx)
	var reports sync.WaitGroup
	defer reports.Wait()
	defer leave()
	reports.Go(func() { defer leave(); p.reports(ctx, p.home, table) })
	reports.Go(func() {
		select {
		case <-p.repairs.wake: // something is to be discarded
			leave()
		case <-ctx.Done():
		}
	})
	return p.follow(ctx, distributor, epoch)
}

// alone reports whether the slave can try the distributor that the balancer last
// named, since err says that the balancer is away.
func (p *Proxy) alone(err error) bool {
	k := fault.KindOf(err)
	return p.home.registered && p.home.distributor != "" && (k == fault.Unavailable || k == fault.Deadline)
}

// follow pulls and applies until something fails or ctx is done.
func (p *Proxy) follow(ctx context.Context, d Distributor, epoch uint64) error {
	lastReply := time.Now()
	for ctx.Err() == nil {
		data, err := p.pull(ctx, d, epoch)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if !retryPull(err) || time.Since(lastReply) > p.cfg.Away {
				return err
			}
			p.failed(ctx, err)
			continue
		}
		lastReply = time.Now()
		p.healthy(data)
		if data == nil {
			continue
		}
		if err := p.apply(ctx, data); err != nil {
			if fault.Is(err, fault.Stale) || fault.Is(err, fault.Corrupt) {
				return err
			}
			if ctx.Err() != nil {
				return nil // the session is to end
			}
			p.failed(ctx, err)
		}
	}
	return nil
}

// retryPull reports whether the slave may still be enlisted after a failed pull.
func retryPull(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Overloaded:
		return true
	}
	return false
}

// request returns the slave's registration.
func (p *Proxy) request(table *pb.SliceTable) *pb.RegisterRequest {
	return &pb.RegisterRequest{Name: p.cfg.Name, Address: p.cfg.Address, Incarnation: p.cfg.Incarnation,
		Position: p.store.Position(), Slices: table, Discard: p.home.discard}
}

// register registers the slave with the balancer.
func (p *Proxy) register(ctx context.Context, table *pb.SliceTable) error {
	call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	reply, err := p.balancer.Register(call, p.request(table))
	if err != nil {
		return p.refused(fmt.Errorf("register with the balancer: %w", err))
	}
	p.home = registration{
		registered: true, epoch: reply.GetEpoch(), distributor: reply.GetDistributor(),
		database: reply.GetDatabase(), timeline: reply.GetTimeline(), discard: reply.GetDiscard(),
	}
	if reply.GetVerify() {
		p.state.change(func(s *State) { s.Unverified = true })
	}
	return nil
}

// refused records that a balancer or distributor refuses the slave.
func (p *Proxy) refused(err error) error {
	if fault.Is(err, fault.Conflict) {
		p.state.change(func(s *State) { s.Refused = true })
		p.refresh()
	}
	return err
}

// enlist registers the slave with its distributor and records the clock that it must
// reach. Epoch 0: the slave has to register again.
func (p *Proxy) enlist(ctx context.Context, d Distributor, table *pb.SliceTable) (epoch uint64, err error) {
	call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	reply, err := d.Enlist(call, p.request(table))
	if err != nil {
		return 0, p.refused(fmt.Errorf("enlist with the distributor %s: %w", p.home.distributor, err))
	}
	if err := p.checkDistributor(reply); err != nil {
		return 0, p.refused(err)
	}
	if reply.GetVerify() {
		return 0, p.rebase(ctx, d, reply)
	}
	if err := p.takeOver(ctx, reply.GetMark()); err != nil {
		return 0, err
	}
	p.refill, p.epoch = reply.GetRefill(), reply.GetEpoch()
	if !p.settled || p.refill {
		clock := reply.GetCatchUp().GetClock()
		p.settled, p.catchUp = true, &clock
	}
	p.state.change(func(s *State) {
		s.Registered, s.Refused, s.Unverified, s.Epoch = true, false, false, reply.GetEpoch()
		if p.catchUp != nil && s.CaughtUp && !p.reached() {
			s.CaughtUp = false
			p.store.SetCaughtUp(false)
		}
	})
	p.settle()
	p.refresh()
	p.log.Info("registered", "epoch", reply.GetEpoch(), "distributor", p.home.distributor,
		"catch_up", reply.GetCatchUp().GetClock(), "clock", p.store.Position().GetClock())
	return reply.GetEpoch(), nil
}

// reached reports whether the store has reached the clock named at its first
// enlisting, with data that are of use. The clock alone decides: epochs and quanta
// are the balancer's, and slices that are being filled are not served by its table.
func (p *Proxy) reached() bool {
	return !p.refill && p.store.Position().GetClock() >= *p.catchUp
}

// settle declares the store caught up once it is.
func (p *Proxy) settle() {
	if p.catchUp == nil || !p.reached() || OnlyFilling(p.store.Slices()) {
		return
	}
	p.catchUp = nil
	p.state.change(func(s *State) {
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
	})
	p.refresh()
	p.log.Info("caught up", "clock", p.store.Position().GetClock())
}

func (p *Proxy) pull(ctx context.Context, d Distributor, epoch uint64) (*pb.NodeData, error) {
	call, cancel := context.WithTimeout(ctx, p.cfg.Wait+p.cfg.CallTimeout)
	defer cancel()
	reply, err := d.Pull(call, &pb.PullRequest{Name: p.cfg.Name, Epoch: epoch, Position: p.store.Position(),
		MaxBytes: p.cfg.MaxBytes, WaitMs: uint32(p.cfg.Wait.Milliseconds()), Incarnation: p.cfg.Incarnation,
		Database: p.home.database})
	if err != nil {
		return nil, fmt.Errorf("pull from the distributor: %w", err)
	}
	return reply.GetData(), nil
}

// apply applies a bucket; upkeep steps aside first.
func (p *Proxy) apply(ctx context.Context, data *pb.NodeData) error {
	if err := p.checkBucket(data); err != nil {
		return err
	}
	done := p.upkeep.stepAside()
	err := p.store.Apply(ctx, data)
	done(err == nil)
	if err != nil {
		if fault.Is(err, fault.Corrupt) {
			p.repairs.anew(err.Error())
		}
		return fmt.Errorf("apply node data: %w", err)
	}
	if data.GetReset_() {
		p.refill = false
	}
	p.pause = p.cfg.Backoff
	p.state.change(func(s *State) {
		s.Trouble = ""
		s.Buckets++
		s.Items += uint64(len(data.GetItems()) + len(data.GetDeleted()))
	})
	p.settle()
	if data.GetSlices() != nil {
		p.heal(false)
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
	return nil
}

// healthy clears the trouble of calls that work again. Trouble of the store stays
// until a bucket is applied.
func (p *Proxy) healthy(data *pb.NodeData) {
	if data == nil {
		p.pause = p.cfg.Backoff
		p.state.change(func(s *State) { s.Trouble = "" })
		p.idle++
		p.heal(p.idle >= idlePulls && time.Since(time.Unix(0, p.reported.Load())) < 3*p.cfg.Report)
		return
	}
	p.idle = 0
}

// failed reports err and pauses, longer each time.
func (p *Proxy) failed(ctx context.Context, err error) {
	before := p.state.get().Trouble
	p.state.change(func(s *State) { s.Trouble, s.Retries = err.Error(), s.Retries+1 })
	if before != err.Error() {
		p.log.Warn("trouble; trying again", "kind", fault.KindOf(err).String(), "err", err)
	}
	jitter := time.Duration(rand.Int64N(int64(p.pause)/4 + 1))
	_ = wait.Sleep(ctx, p.pause+jitter) // the caller sees that ctx has ended
	p.pause = min(2*p.pause, p.cfg.MaxBackoff)
}
