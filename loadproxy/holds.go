package loadproxy

import "sync"

// holds are the clocks after which copies of the store need the log of changes. The
// balancer keeps the changes that a slave has not reported to have applied; what is
// held it keeps beyond that.
type holds struct {
	mu     sync.Mutex
	clocks map[*uint64]struct{} // guarded by mu
}

// Hold keeps the changes after the store's present position in the log of the
// database, for a copy of the store that is made next, until release is called. They
// are held when it returns, without a call of the balancer: a report or registration
// that names a later position was made later, and so it names what is held. That needs
// a report's position to be read before what is held.
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

// least returns the least clock held; 0: none.
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
