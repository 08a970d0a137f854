package loadproxy

import "sync"

// State is how the slave fares.
type State struct {
	// Registered: the slave's distributor knows it; Epoch is the balancer's.
	Registered bool
	Epoch      uint64
	// Refused: a balancer answers and does not take the slave, whose data are
	// newer than it or not its own. Then they are not served after the grace
	// time either.
	Refused bool
	// CaughtUp: the store holds all that it should, as far as is known.
	CaughtUp bool
	// Trouble is empty or says why the slave does not go on.
	Trouble string
	// Buckets and Items count what was applied, Retries what had to be tried
	// again, since the process began.
	Buckets, Items, Retries uint64
}

// watched is a State that many read and one goroutine writes.
type watched struct {
	mu    sync.Mutex
	state State // under mu
}

func (w *watched) get() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

func (w *watched) change(f func(*State)) State {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.state)
	return w.state
}

// State returns how the slave fares now.
func (p *Proxy) State() State { return p.state.get() }
