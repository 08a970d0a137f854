package esdb

import "time"

// master is ESDB's load balancer and master node. Each period it examines tenants' writes and
// makes all clients agree on rules for the hot ones (§4.1, §4.3).
type master struct {
	s                  *sim
	rules              *rules
	counts             []int32 // writes of each tenant in this period
	pending            bool
	committed, aborted int
}

// period is one round of the service phase of algorithm 1.
func (m *master) period() {
	m.s.after(m.s.Commit.Period, m.period)
	from := m.s.now + m.s.Commit.Ahead
	proposal := newRules()
	var total float64
	for _, n := range m.counts {
		total += float64(n)
	}
	for k, n := range m.counts {
		if n == 0 {
			continue
		}
		if spread := offset(float64(n)/total, shards); spread > m.rules.read(Tenant(k)) { // CheckHotSpot
			proposal.add(from, spread, Tenant(k))
		}
	}
	clear(m.counts)
	if len(proposal.list) > 0 && !m.pending {
		m.propose(from, proposal.list)
	}
}

// round is a proposal until it is committed or aborted.
type round struct {
	m       *master
	from    time.Duration
	list    []rule
	accepts int
	over    bool
}

// propose runs the prepare phase. It asks each client whether it has routed a write that was
// created at the time of the rules or later; from then on, the client holds such writes back.
// An error, or no answer within half of the time until the rules take effect, aborts the
// round.
func (m *master) propose(from time.Duration, list []rule) {
	r := &round{m: m, from: from, list: list}
	m.pending = true
	for _, c := range m.s.clients {
		if m.arrives() {
			m.tell(c, func() { r.prepare(c) })
		}
	}
	m.s.after(m.s.Commit.Ahead/2, func() { r.end(false) })
}

// prepare handles a proposal at a client.
func (r *round) prepare(c *client) {
	if c.newest >= r.from {
		r.m.answer(func() { r.end(false) })
		return
	}
	c.blocked, c.until = true, r.from
	r.m.answer(func() {
		if r.accepts++; r.accepts == len(r.m.s.clients) {
			r.end(true)
		}
	})
}

// end commits or aborts, but only once. Its messages always arrive: a node that does not
// answer at all is left to operators (§4.3) and is not simulated.
func (r *round) end(commit bool) {
	if r.over {
		return
	}
	r.over, r.m.pending = true, false
	if commit {
		r.m.committed++
		r.m.rules.addAll(r.list)
	} else {
		r.m.aborted++
	}
	for _, c := range r.m.s.clients {
		r.m.tell(c, func() {
			if commit {
				c.rules.addAll(r.list)
			}
			if c.until == r.from {
				c.blocked = false
			}
			c.dispatch()
		})
	}
}

// tell delivers a message to a client. Messages arrive in the order in which they were sent.
func (m *master) tell(c *client, do func()) {
	c.heard = max(c.heard, m.s.now+m.trip())
	m.s.after(c.heard-m.s.now, do)
}

// answer delivers a message to the master, unless it is lost.
func (m *master) answer(do func()) {
	if m.arrives() {
		m.s.after(m.trip(), do)
	}
}

// arrives draws whether a message of the prepare phase arrives or is lost.
func (m *master) arrives() bool { return m.s.rand.Float64() >= m.s.Commit.Loss }

func (m *master) trip() time.Duration {
	return time.Duration(m.s.rand.Float64() * float64(m.s.Commit.Trip))
}
