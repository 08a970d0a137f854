package loadproxy

import (
	"context"
	"fmt"
	"sync"

	"adshard/fault"
	"adshard/schema/pb"
)

// registration is what the balancer answered to the slave's registration.
type registration struct {
	registered         bool
	epoch              uint64
	distributor        string
	database, timeline string
	// discard says that the slave's data are of another database and may be discarded.
	discard bool
}

// session registers and enlists the slave. Then it pulls, applies and reports until something
// fails. It returns nil if the slave must register again.
func (p *Proxy) session(ctx context.Context) error {
	table := p.store.Slices()
	switch err := p.register(ctx, table); {
	case err == nil:
		if from := p.replace.begin(); from != nil {
			p.copySibling(ctx, from, table)
			return nil
		}
	case !p.withoutBalancer(err):
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
		case <-p.repairs.wake: // there are slices to discard
			leave()
		case <-ctx.Done():
		}
	})
	return p.follow(ctx, distributor, epoch)
}

// withoutBalancer reports whether the slave can go on with its last distributor, since err says
// that the balancer is away.
func (p *Proxy) withoutBalancer(err error) bool {
	k := fault.KindOf(err)
	return p.home.registered && p.home.distributor != "" && (k == fault.Unavailable || k == fault.Deadline)
}

// request returns the slave's registration. It reads the position before the holds: see Hold.
func (p *Proxy) request(table *pb.SliceTable) *pb.RegisterRequest {
	return &pb.RegisterRequest{Name: p.cfg.Name, Address: p.cfg.Address, Zone: p.cfg.Zone, Incarnation: p.cfg.Incarnation,
		Position: p.store.Position(), Slices: table, Discard: p.home.discard, Held: p.copies.least(),
		Instance: p.cfg.Instance, Copied: p.copied, Unverified: p.unverified.Load()}
}

// register registers the slave with the balancer.
func (p *Proxy) register(ctx context.Context, table *pb.SliceTable) error {
	call, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	reply, err := p.balancer.Register(call, p.request(table))
	if err != nil {
		return p.refused(fmt.Errorf("register with the balancer: %w", err))
	}
	p.copied = nil
	p.rechecked(reply.GetRecheck())
	if p.cfg.Copier != nil {
		p.replace.wanted(reply.GetCopy())
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

// refused records that the balancer or the distributor refuses the slave, if err says so, and
// returns err.
func (p *Proxy) refused(err error) error {
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Forbidden) {
		p.state.change(func(s *State) { s.Refused = true })
		p.refresh()
	}
	return err
}

// enlist registers the slave with its distributor, and records the clock that the slave must
// reach. The epoch is 0 if the slave has to register again.
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
