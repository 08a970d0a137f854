package loadproxy

import "sync"

// holds has the clocks after which the log of changes is still needed, for copies of the store.
// The balancer keeps the changes that a slave has not reported as applied, and also those after
// the least clock held.
type holds struct {
	mu     sync.Mutex
	clocks map[*uint64]struct{} // guarded by mu
}

// Hold keeps the log of changes from the store's present position on until release is called, so
// that a copy of the store can be made. It does not call the balancer: a report or registration
// with a later position is made after Hold, and so contains the hold. For this to be true, a
// report must read the position before the holds.
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

// least returns the least clock held, or 0 if nothing is held.
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
