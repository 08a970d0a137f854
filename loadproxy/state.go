package loadproxy

import (
	"sync"
	"sync/atomic"

	"adshard/fault"
)

// State is the state of a slave.
type State struct {
	// Registered says whether the slave is enlisted with a distributor. Epoch is the balancer's
	// epoch.
	Registered bool
	Epoch      uint64
	// Refused says that a balancer refuses the slave, because its data are newer or of another
	// database. They are not served after the grace time either.
	Refused bool
	// Unverified says that the store's data may be of another history of the database. They are
	// not served until they have been compared.
	Unverified bool
	// CaughtUp says that the store has all the data that it should have, as far as is known.
	CaughtUp bool
	// Repair says which slices are not served because they are damaged or missing, why, and
	// since when; it is "" if there are none. WhyIncomplete says why the slave serves less than
	// its map gives it, for that or another reason; it is "" if the slave serves all of it.
	Repair, WhyIncomplete string
	// Recheck says how much of a store that was not closed properly has been compared with the
	// database. It is "" if the store was closed, if all was compared, or if nothing is being
	// compared.
	Recheck string
	// Trouble says why the slave makes no progress, or is "" if it does.
	Trouble string
	// TroubleKind is the kind of the error that is the trouble.
	TroubleKind fault.Kind
	// Buckets and Items count what was applied since the process began, and Retries what had to
	// be tried again.
	Buckets, Items, Retries uint64
	// Repairs counts the slices that were discarded to be filled again. Memory counts the
	// differences that were only in memory and were dropped.
	Repairs, Memory uint64
}

// describeIncomplete says why the slave serves less than its map gives it, or returns "" if it
// does not.
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

// watched holds a State for many readers and few writers.
type watched struct {
	mu    sync.Mutex
	state State // guarded by mu
	// whyIncomplete is a copy of state.WhyIncomplete, which searches read without a lock.
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
