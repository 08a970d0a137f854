package loadproxy

import "sync"

// holds are the clocks after which copies of the store need the log of changes. The balancer keeps
// the changes that a slave has not reported as applied, and beyond that those held.
type holds struct {
	mu     sync.Mutex
	clocks map[*uint64]struct{} // guarded by mu
}

// Hold keeps the changes after the store's present position in the log of the database, for the
// copy of the store that is made next, until release is called. It needs no call of the balancer:
// any report or registration with a later position is made later, and so includes the hold. For
// this, a report must read the position before the holds.
func (p *Proxy) Hold() (release func()) {
	h := &p.copies
	h.mu.Lock()
	defer h.mu.Unlock()
	clock := p.store.Position().GetClock()
	if h.clocks == nil {
		h.clocks = make(map[*uint64]struct{})
	}
	h.clocks[&clock] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.clocks, &clock)
	}
}

// least returns the least clock held, or 0 if there is none.
func (h *holds) least() (clock uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clocks {
		if clock == 0 || *c < clock {
			clock = *c
		}
	}
	return clock
}
