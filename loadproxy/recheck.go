package loadproxy

import (
	"fmt"
	"sync"
	"time"

	"adshard/schema/pb"
)

// A store that is opened after an unclean end has all confirmed data, as far as its files show. To
// be sure, the balancer compares what the slave serves with the database, before its other
// comparisons. If that is quick, the slave waits for it before it serves; with a large store it
// serves in the meantime.

const (
	// recheckSlice is the longest time per slice, on average, that the slave waits for.
	recheckSlice = time.Second
	// recheckMost is the longest time that the slave waits in all: otherwise a crash could take a
	// slave with many slices out of service for too long.
	recheckMost = 10 * time.Second
	// recheckPoll is the time between two checks of whether all slices were compared.
	recheckPoll = 100 * time.Millisecond
)

// recheck is the balancer's progress in comparing the data of a store that was not closed properly.
type recheck struct {
	mu       sync.Mutex // guards what follows
	begun    time.Time  // when the slave could first have served; zero if it could not yet
	known    bool       // the balancer has said that it compares the data
	slices   uint32
	compared uint32
}

// set stores the balancer's progress; m is nil if the balancer compares nothing.
func (r *recheck) set(m *pb.Recheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.slices, r.compared = m != nil, m.GetSlices(), m.GetCompared()
}

// done reports whether all slices were compared.
func (r *recheck) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known && r.compared >= r.slices
}

// holdsBack reports whether the slave must still wait before it serves. It is called when the slave
// could serve.
func (r *recheck) holdsBack(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun.IsZero() {
		r.begun = now
	}
	return r.known && r.compared < r.slices && now.Sub(r.begun) < min(recheckMost, time.Duration(r.compared+1)*recheckSlice)
}

// String returns the progress as a text, or "" if the balancer compares nothing.
func (r *recheck) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		return ""
	}
	return fmt.Sprintf("its store was not closed: %d of %d slices are compared with the database", r.compared, r.slices)
}

// rechecked records the balancer's progress in the comparison if the store is unverified.
func (p *Proxy) rechecked(m *pb.Recheck) {
	text := ""
	if p.unverified.Load() {
		p.recheck.set(m)
		text = p.recheck.String()
	}
	if p.state.get().Recheck != text {
		p.state.change(func(s *State) { s.Recheck = text })
	}
}

// soon returns a channel that fires when the next report is due early, because the slave waits for
// the comparison and the answer to a report has its progress. It returns nil if there is no need to
// hurry.
func (p *Proxy) soon() <-chan time.Time {
	if !p.unverified.Load() || p.state.get().CaughtUp {
		return nil
	}
	return time.After(min(recheckPoll, p.cfg.Report))
}

// verify records in the store that all its data were compared, once they are.
func (p *Proxy) verify() {
	if !p.unverified.Load() || !p.recheck.done() {
		return
	}
	if err := p.store.Verified(); err != nil {
		p.log.Warn("that the store was compared with the database cannot be noted", "err", err)
		return
	}
	p.unverified.Store(false)
	p.state.change(func(s *State) { s.Recheck = "" })
	p.log.Info("the store was not closed; what it has was compared with the database")
}

// pollsOften reports whether the slave is catching up with an unverified store, and so needs the
// balancer's progress soon.
func (p *Proxy) pollsOften() bool { return p.catchUp != nil && p.unverified.Load() }

// holdsBack reports whether the slave could serve, but must wait until its data are compared.
func (p *Proxy) holdsBack() bool { return p.unverified.Load() && p.recheck.holdsBack(time.Now()) }
