package balancer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/feed"
	"adshard/internal/node/health"
	"adshard/internal/wait"
)

// standby is the state of a host while another one leads.
type standby struct {
	warm   *warm
	health *health.Tracker
	leader atomic.Pointer[control.Leader] // the leader as last seen, or nil if none has been seen yet
	differ atomic.Pointer[[]difference]   // settings that differ from the leader's, or nil if they were not compared yet
}

const (
	// warmAfter is how long a host waits for the lease before it loads the data that it will need
	// as leader. A host that leads sooner loads the data then.
	warmAfter = 300 * time.Millisecond
	// leaderPoll is the time between two checks of which balancer leads. They are for display only.
	leaderPoll = time.Second
)

// newStandby returns a standby that is not warm yet.
func (h *Host) newStandby(tracker *health.Tracker) *standby {
	return &standby{health: tracker, warm: &warm{cfg: &h.cfg, order: h.order, db: h.db, health: tracker, log: h.log}}
}

// stand waits until this host may lead, then begins to lead.
func (h *Host) stand(ctx context.Context) (*Balancer, error) {
	tracker := h.cfg.tracker()
	for {
		if err := h.cfg.checkPlace(ctx, h.db); fault.Is(err, fault.Conflict) {
			return nil, err // without a term, which would end that of the leader in etcd
		}
		s := h.newStandby(tracker)
		h.last.Store(nil)
		h.standby.Store(s)
		term, err := h.wait(ctx, s)
		if err != nil {
			return nil, err
		}
		b, err := h.lead(ctx, term, s.warm.items(), nil)
		if err == nil || ctx.Err() != nil {
			return b, err
		}
		if !isReplaced(err) && (fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid)) {
			return nil, err
		}
		h.log.Warn("cannot begin to lead; trying again", "err", err)
		if err := wait.Sleep(ctx, feed.RetryAfter); err != nil {
			return nil, err
		}
	}
}

// wait waits for the lease, and keeps the items of the database loaded meanwhile.
func (h *Host) wait(ctx context.Context, s *standby) (control.Term, error) {
	var parts sync.WaitGroup
	defer parts.Wait()
	following, stop := context.WithCancel(ctx)
	defer stop()
	parts.Go(func() {
		if wait.Sleep(following, warmAfter) == nil {
			s.warm.run(following)
		}
	})
	campaign, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	parts.Go(func() { h.watchLeader(following, s, leave) })
	term, err := h.store.Campaign(campaign, h.me)
	if err != nil && ctx.Err() == nil && campaign.Err() != nil {
		err = context.Cause(campaign)
	}
	return term, err
}

// watchLeader records who leads, and announces that this host stands by, until ctx is done. If the
// control state moves to etcd, where a host configured without control can never lead, it calls
// leave.
func (h *Host) watchLeader(ctx context.Context, s *standby, leave func(error)) {
	announced, failing := false, false
	for wait.Sleep(ctx, warmAfter) == nil {
		l, err := h.store.Leader(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", h.cfg.controlPlace(), err)
		}
		if err != nil && !failing {
			h.log.Warn("cannot read which balancer leads", "err", err)
		}
		failing = err != nil
		s.health.Record(health.ReadLeader, err)
		if err == nil {
			s.leader.Store(&l)
			h.watchSettings(ctx, s)
		}
		if !announced && !failing && s.warm.items() != nil {
			announced = true
			h.announce("standby")
		}
		if err := h.cfg.checkPlace(ctx, h.db); fault.Is(err, fault.Conflict) {
			leave(err)
		}
		if wait.Sleep(ctx, leaderPoll-warmAfter) != nil {
			return
		}
	}
}

// ready returns the reasons why the host could not take over.
func (s *standby) ready() []string {
	why := s.health.With(s.warm.db)
	if s.warm.items() == nil {
		why = append(why, "the standby balancer is loading the items")
	}
	return why
}

// refusal returns the error of calls that only the leader answers.
func (s *standby) refusal() error {
	l := s.leader.Load()
	if l == nil || l.Epoch == 0 {
		return fault.Newf(fault.Unavailable, "balancer", "this balancer stands by, and does not know yet which one leads; ask again after a pause")
	}
	if l.Admin == "" {
		return fault.Newf(fault.Unavailable, "balancer", "this balancer stands by; ask the one that leads (epoch %d), %s; if that one has failed, another takes over within seconds: ask again", l.Epoch, l.Address)
	}
	return fault.Newf(fault.Unavailable, "balancer", "this balancer stands by; ask the one that leads (epoch %d), at %s; if that one has failed, another takes over within seconds: ask again",
		l.Epoch, l.Admin)
}
