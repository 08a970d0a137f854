package loadproxy

import (
	"sync"
	"sync/atomic"
)

// State is the state of a slave.
type State struct {
	// Registered: the slave is enlisted with a distributor; Epoch is the balancer's.
	Registered bool
	Epoch      uint64
	// Refused: a balancer refuses the slave, because its data are newer or of another database.
	// They are not served after the grace time either.
	Refused bool
	// Unverified: the store's data may be of another history of the database, and
	// are not served until they have been compared.
	Unverified bool
	// CaughtUp: the store has all the data that it should, as far as is known.
	CaughtUp bool
	// Repair names the slices that are not served because they are damaged or missing, why
	// and since when, or "" if there is none. WhyIncomplete is why the slave serves less
	// than its map gives it, for that reason or another, or "" if it serves all of it.
	Repair, WhyIncomplete string
	// Recheck says how far the data of a store that was not closed have been compared with the
	// database, or "" if it was closed, all have been, or nothing is compared.
	Recheck string
	// Trouble is empty or says why the slave makes no progress.
	Trouble string
	// Buckets and Items count what was applied, Retries what had to be tried
	// again, since the process began.
	Buckets, Items, Retries uint64
	// Repairs counts slices discarded to be filled again, Memory differences that
	// were in memory only and were dropped.
	Repairs, Memory uint64
}

// describeIncomplete returns why the slave serves less than its map gives it.
func (s *State) describeIncomplete() string {
	switch {
	case s.Repair != "":
		return s.Repair
	case s.Refused:
		return "it was refused: " + short(s.Trouble)
	case !s.CaughtUp && s.Recheck != "":
		return s.Recheck
	case !s.CaughtUp:
		return "it has not caught up with the balancer yet"
	}
	return ""
}

// watched is a State with many readers and few writers.
type watched struct {
	mu    sync.Mutex
	state State // guarded by mu
	// whyIncomplete is a copy of the state's, which searches read without a lock.
	whyIncomplete atomic.Pointer[string]
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
	w.state.WhyIncomplete = w.state.describeIncomplete()
	if old := w.whyIncomplete.Load(); old == nil || *old != w.state.WhyIncomplete {
		text := w.state.WhyIncomplete
		w.whyIncomplete.Store(&text)
	}
	return w.state
}

// State returns the present state of the slave.
func (p *Proxy) State() State {
	s := p.state.get()
	r := p.repairs
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Repairs, s.Memory = r.count, r.memory
	return s
}
