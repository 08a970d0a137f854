package overload

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"adshard/fault"
)

const op = "admit search"

var (
	errBusy  = fault.New(fault.Overloaded, op, errors.New("too many searches are under way; try again in a second"))
	errWaits = errors.New("the search waited for its turn")
)

// Gate admits searches. Make it with New. It is safe for concurrent use.
type Gate struct {
	start time.Time

	mu      sync.Mutex
	limiter *limiter // under mu
}

// Place is the place of an admitted search. Leave ends it.
type Place struct {
	gate   *Gate
	turn   chan struct{} // closed when the search may run, or nil if it may run at once
	ticket ticket        // under the gate's mu
}

// New returns a gate.
func New(c Config) *Gate { return &Gate{start: time.Now(), limiter: newLimiter(c)} }

// ForSlave returns the configuration of the gate of the slaves in a process. Searches need mostly
// processor time, and leave one processor to the rest of the process (config.SpareProcessor). There
// are more slots than that only if searches wait for a disk, while processors are idle.
func ForSlave(most int) Config {
	processors := max(1, runtime.GOMAXPROCS(0)-1)
	n := min(most, processors)
	return Config{Most: most, Least: n, Start: n, Prompt: time.Millisecond,
		Delay: unlessBusy(processors, processorTime, Delay(0.99))}
}

// ForMaster returns the configuration of a master's gate. Searches of a master wait only at slaves:
// a search that had first waited at the master might then be refused by a slave.
func ForMaster(most int) Config {
	return Config{Most: most, Unqueued: true, Least: max(1, most/8), Start: most, Prompt: long, Delay: Delay(0.9)}
}

// Enter admits or refuses a search at once. Errors: fault.Overloaded if the search would have to
// wait too long.
func (g *Gate) Enter(r Request) (*Place, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	source, tenant, ok := g.limiter.admit(now, r)
	if !ok {
		return nil, errBusy
	}
	p := &Place{gate: g, ticket: ticket{source: source, tenant: tenant, left: r.Left}}
	if g.limiter.enqueue(now, &p.ticket) {
		turn := make(chan struct{})
		p.turn, p.ticket.start = turn, func() { close(turn) }
	}
	return p, nil
}

// Check returns the error of Enter if a search with these properties would be refused now, without taking a place. It is for a
// search whose deadline or rest is not known yet.
func (g *Gate) Check(r Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, _, ok := g.limiter.admit(time.Since(g.start), r); !ok {
		return errBusy
	}
	return nil
}

// Join counts a source as one that shares the places, even while it asks nothing, until `leave` is
// called.
func (g *Gate) Join(source string) (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.limiter.sources.get(source, time.Since(g.start))
	s.joined++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		s.joined--
	}
}

// Wait waits until the search may run. Errors: those of ctx, as fault.Deadline or fault.Cancelled.
// Leave must be called even after an error.
func (p *Place) Wait(ctx context.Context) error {
	if p.turn == nil {
		return nil
	}
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return fault.Newf(fault.KindOf(ctx.Err()), op, "%w: %w", errWaits, ctx.Err())
	}
}

// Refused records that the slaves which the search asked were overloaded.
func (p *Place) Refused() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.ticket.refused = true
}

// Leave gives the place back. Call it once.
func (p *Place) Leave() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.gate.limiter.leave(time.Since(p.gate.start), &p.ticket)
}

// State is the state of a gate.
type State struct {
	Slots, Running, Waiting int
}

// State returns the present state.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.limiter
	return State{Slots: l.slots, Running: l.running, Waiting: l.queue.Len()}
}
