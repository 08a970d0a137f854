package loadproxy

import "adshard/fault"

// reload opens the complete copy in the store's directory as the slave's store, between two
// sessions. The slave then registers again with the copy's position and slices, and serves nothing
// until it has caught up. Earlier faults of the files are forgotten. Errors: those of
// barrels.Store.Reload.
func (p *Proxy) reload() error {
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
		p.unverified.Store(p.store.Unverified()) // a copy is unverified if the sibling's store is
		r.mu.Lock()
		r.open, r.orders, r.healed, r.renew = nil, nil, nil, ""
		r.mu.Unlock()
		p.log.Info("the store is a copy from now on", "clock", p.store.Position().GetClock())
	}
	p.settled, p.refill, p.catchUp = false, false, nil
	p.refresh()
	return err
}
