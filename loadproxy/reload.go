package loadproxy

import (
	"context"

	"adshard/fault"
)

// Reload makes a copy that is complete in the store's directory (internal/node/copying)
// the slave's store. The slave registers again, with the copy's position and slices, and
// serves nothing until it has caught up. It returns when the copy is the store. Errors:
// those of barrels.Store.Reload, and of ctx.
func (p *Proxy) Reload(ctx context.Context) error {
	done := make(chan error, 1)
	r := p.repairs
	r.mu.Lock()
	r.reload = append(r.reload, done)
	r.poke()
	r.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fault.New(fault.KindOf(ctx.Err()), "slave: reload", context.Cause(ctx))
	}
}

// reload opens the store's files again, between two sessions. What was wrong with the
// files before is forgotten.
func (p *Proxy) reload(waiting []chan error) {
	p.state.change(func(s *State) {
		s.CaughtUp = false
		p.store.SetCaughtUp(false)
	})
	done := p.upkeep.stepAside()
	err := p.store.Reload()
	done(true)
	r := p.repairs
	switch {
	case fault.Is(err, fault.Corrupt):
		r.recreate(err.Error())
	case err == nil:
		r.mu.Lock()
		r.open, r.orders, r.healed, r.renew = nil, nil, nil, ""
		r.mu.Unlock()
		p.log.Info("the store is a copy from now on", "clock", p.store.Position().GetClock())
	}
	p.settled, p.refill, p.catchUp = false, false, nil
	p.refresh()
	for _, w := range waiting {
		w <- err
	}
}
