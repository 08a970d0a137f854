package loadproxy

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"adshard/barrels"
	"adshard/fault"
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

	// catchUp is the position named at the first registration, or at one that
	// asks for a refill; nil before it and after it was reached. Only Run's goroutine uses it and what follows.
	catchUp *pb.Position
	settled bool // the first registration was made
	refill  bool // what the store holds is of no use: it waits for a reset
	empty   bool // the store is damaged: it is given out as empty until a reset
	refills int
	pause   time.Duration // after the next failure
}

// New returns a proxy of store. From now on the store counts as not caught up.
func New(cfg Config, store barrels.Store, balancer Balancer, log *slog.Logger) (*Proxy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Proxy{cfg: cfg, store: store, balancer: balancer, log: log.With("slave", cfg.Name), pause: cfg.Backoff}
	p.upkeep = newUpkeep(store, cfg, p.log)
	store.SetCaughtUp(false)
	return p, nil
}

// Run works until ctx is over; it returns nil then. Errors of the balancer and
// of the store are told by State and logged, and tried again.
func (p *Proxy) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts.Go(func() { p.upkeep.run(ctx) })
	parts.Go(func() { p.grace(ctx) })
	for ctx.Err() == nil {
		if err := p.session(ctx); err != nil && ctx.Err() == nil {
			p.failed(ctx, err)
		}
	}
	return nil
}

// grace lets the store serve what it holds when no balancer was found in time.
func (p *Proxy) grace(ctx context.Context) {
	if !sleep(ctx, p.cfg.Grace) {
		return
	}
	p.state.change(func(s *State) {
		if s.Registered || s.CaughtUp || s.Refused {
			return
		}
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
		p.log.Warn("no balancer within the grace time; serving what is held", "grace", p.cfg.Grace)
	})
}

// session registers, then pulls and applies until something fails.
func (p *Proxy) session(ctx context.Context) error {
	epoch, err := p.register(ctx)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		data, err := p.pull(ctx, epoch)
		if err != nil {
			if p.retryPull(err) {
				p.failed(ctx, err)
				continue
			}
			return err
		}
		p.healthy(data)
		if data == nil {
			continue
		}
		if err := p.apply(ctx, data); err != nil {
			if fault.Is(err, fault.Stale) || fault.Is(err, fault.Corrupt) {
				return err
			}
			p.failed(ctx, err)
		}
	}
	return nil
}

// retryPull tells whether the registration is still good after a failed pull.
func (p *Proxy) retryPull(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Overloaded:
		return true
	}
	return false
}

func (p *Proxy) register(ctx context.Context) (epoch uint64, err error) {
	r := &pb.RegisterRequest{Name: p.cfg.Name, Address: p.cfg.Address, Incarnation: p.cfg.Incarnation,
		Position: p.position(), Slices: p.store.Slices()}
	if p.empty {
		r.Slices = &pb.SliceTable{}
	}
	call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	reply, err := p.balancer.Register(call, r)
	if err != nil {
		if fault.Is(err, fault.Conflict) {
			p.state.change(func(s *State) { s.Refused = true })
		}
		return 0, fmt.Errorf("register with the balancer: %w", err)
	}
	p.refill = reply.GetRefill()
	if !p.settled || p.refill {
		p.settled, p.catchUp = true, reply.GetCatchUp()
		if p.catchUp == nil {
			p.catchUp = &pb.Position{}
		}
	}
	p.state.change(func(s *State) {
		s.Registered, s.Refused, s.Epoch = true, false, reply.GetEpoch()
		if p.catchUp != nil && s.CaughtUp && !p.reached() {
			s.CaughtUp = false
			p.store.SetCaughtUp(false)
		}
	})
	p.settle()
	p.log.Info("registered", "epoch", reply.GetEpoch(), "catch_up", reply.GetCatchUp().GetClock(),
		"clock", r.GetPosition().GetClock())
	return reply.GetEpoch(), nil
}

// position is where the next bucket begins. A damaged store is given out as
// empty, so that it is filled anew, beginning with a bucket that resets it.
func (p *Proxy) position() *pb.Position {
	if p.empty {
		return &pb.Position{}
	}
	return p.store.Position()
}

// reached tells whether the store has come to the position named at its first
// registration with data that are of use, and is not being filled. Clocks alone decide: epochs and quanta are the balancer's.
func (p *Proxy) reached() bool {
	at := p.store.Position()
	return !p.refill && at.GetOffset() == 0 && at.GetClock() >= p.catchUp.GetClock()
}

// settle declares the store caught up once it is.
func (p *Proxy) settle() {
	if p.catchUp == nil || !p.reached() {
		return
	}
	p.catchUp = nil
	p.state.change(func(s *State) {
		s.CaughtUp = true
		p.store.SetCaughtUp(true)
	})
	p.log.Info("caught up", "clock", p.store.Position().GetClock())
}

func (p *Proxy) pull(ctx context.Context, epoch uint64) (*pb.NodeData, error) {
	call, cancel := context.WithTimeout(ctx, p.cfg.Wait+p.cfg.CallTimeout)
	defer cancel()
	reply, err := p.balancer.Pull(call, &pb.PullRequest{Name: p.cfg.Name, Epoch: epoch, Position: p.position(),
		MaxBytes: p.cfg.MaxBytes, WaitMs: uint32(p.cfg.Wait.Milliseconds()), State: p.report()})
	if err != nil {
		return nil, fmt.Errorf("pull from the balancer: %w", err)
	}
	return reply.GetData(), nil
}

// apply applies a bucket; upkeep steps aside first.
func (p *Proxy) apply(ctx context.Context, data *pb.NodeData) error {
	done := p.upkeep.stepAside()
	err := p.store.Apply(ctx, data)
	done(err == nil)
	if err != nil {
		if fault.Is(err, fault.Corrupt) {
			p.damaged(err)
		}
		return fmt.Errorf("apply node data: %w", err)
	}
	if data.GetReset_() {
		p.wasReset(data)
	}
	p.pause = p.cfg.Backoff
	p.state.change(func(s *State) {
		s.Trouble = ""
		s.Buckets++
		s.Items += uint64(len(data.GetItems()) + len(data.GetDeleted()))
	})
	p.settle()
	return nil
}

// wasReset: a filling began, at the end of which the store has caught up.
func (p *Proxy) wasReset(data *pb.NodeData) {
	p.empty, p.refill = false, false
	if p.catchUp != nil {
		return
	}
	p.catchUp = data.GetTo()
	if !p.reached() {
		p.state.change(func(s *State) {
			s.CaughtUp = false
			p.store.SetCaughtUp(false)
		})
	}
}

// damaged asks once in a process's life for a refill.
func (p *Proxy) damaged(err error) {
	if p.refills > 0 {
		return
	}
	p.refills++
	p.empty = true
	p.log.Error("the store is damaged; asking for a refill", "err", err)
}

// healthy forgets the trouble of calls that work again. Trouble of the store
// stays until a bucket was applied.
func (p *Proxy) healthy(data *pb.NodeData) {
	if data == nil {
		p.pause = p.cfg.Backoff
		p.state.change(func(s *State) { s.Trouble = "" })
	}
}

// failed tells of err and waits a growing pause.
func (p *Proxy) failed(ctx context.Context, err error) {
	before := p.state.get().Trouble
	p.state.change(func(s *State) { s.Trouble, s.Retries = err.Error(), s.Retries+1 })
	if before != err.Error() {
		p.log.Warn("trouble; trying again", "kind", fault.KindOf(err).String(), "err", err)
	}
	jitter := time.Duration(rand.Int64N(int64(p.pause)/4 + 1))
	sleep(ctx, p.pause+jitter)
	p.pause = min(2*p.pause, p.cfg.MaxBackoff)
}

// sleep waits for d; false when ctx was over first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
