package mapper

import (
	"fmt"
	"time"

	"adshard/balance"
)

// Mapper routes between the machines of the package (see the package's documentation). Every
// call may leave work in Out. A change of the model is durable before it is sent, one change at a
// time: what becomes due meanwhile is part of the next.
type Mapper struct {
	*cluster
	*journal
	plan    *planner
	verify  *verifier
	views   *views
	moves   *moves
	members *membership
	orders  *orders

	filling bool // a table has changed: the first fill may be over

	joined []balance.Joining // waiting for the first plan, or for their place in the model
	patrol time.Duration     // when silent nodes and stalled moves are looked for
	retry  time.Duration
}

// Out is the work of a mapper's caller, in this order.
type Out struct {
	// Save, when set, is to be made durable; then Saved is called with Seq.
	Save *SaveState
	// Quanta go to all distributors.
	Quanta []balance.Quantum
	// Certify is to be answered with Certified, each once.
	Certify []balance.Certify
	// Discards are to be sent to their nodes; they are repeated until the nodes
	// have carried them out.
	Discards []balance.Discard
	// Troubles are errors to log; the mapper continues.
	Troubles []error
	// Events say what happened.
	Events []Event
}

// SaveState is a state that must be durable before the mapper continues.
type SaveState struct {
	Seq   uint64
	Bytes []byte
}

// New returns a mapper. The caller fills items before Loaded; afterwards the
// mapper maintains it, and distributors may read it between calls. state is what
// an earlier mapper saved, or nil. Errors are
// those of DecodeState.
func New(cfg Config, items *balance.Index, state []byte) (*Mapper, error) {
	cfg = cfg.WithDefaults()
	c, j := newCluster(cfg, items), newJournal()
	q, w := newVerifier(c, j), newViews(c, j)
	m := &Mapper{
		cluster: c, journal: j, plan: newPlanner(c, j), views: w, moves: newMoves(c, j, q), verify: q,
		members: newMembership(c, j, q, w),
	}
	m.orders = newOrders(c, m.plan, w, m.members)
	if state == nil {
		return m, nil
	}
	s, err := balance.DecodeState(state)
	if err != nil {
		return nil, err
	}
	m.cluster.model = s.Model
	m.views.resume(s.Quantum)
	m.members.resume(s)
	m.plan.resume(s.Memories)
	return m, nil
}

// Loaded is called once the index holds all items as of clock (burst start,
// thesis 6.3.12). A mapper with a saved model announces it now and resumes its
// moves.
func (m *Mapper) Loaded(now time.Duration, clock uint64) {
	now = m.time.at(now)
	m.cluster.loaded, m.cluster.clock = true, clock
	m.plan.itemsLoaded(now)
	m.verify.itemsLoaded(now)
	if m.views.itemsLoaded(now) {
		m.commit(now)
	}
	m.step(now)
}

// Changes takes changes of items and parents, in ascending clock order, each above the
// last.
func (m *Mapper) Changes(now time.Duration, list []balance.Change) {
	now = m.time.at(now)
	for _, c := range list {
		m.cluster.clock = c.Clock
		m.verify.touch(c)
		m.cluster.items.Follow(c)
	}
	m.step(now)
}

// Weigh sets the weight of an item; unknown items are ignored.
func (m *Mapper) Weigh(k balance.Key, weight uint32) {
	if _, ok := m.cluster.items.Get(k); ok {
		m.cluster.items.Put(k, weight)
	}
}

// Tick advances the time.
func (m *Mapper) Tick(now time.Duration) { m.step(m.time.at(now)) }

// Floor sets a lower bound of the clocks of quanta: some distributor has processed
// changes up to it. Until the mapper has seen them too, it issues no quanta.
func (m *Mapper) Floor(clock uint64) { m.views.setFloor(clock) }

// Saved confirms that the state with this number is durable; its quantum is sent.
func (m *Mapper) Saved(now time.Duration, seq uint64) {
	now = m.time.at(now)
	if m.views.saved(seq) {
		m.step(now)
	}
}

// Out returns the pending work and clears it.
func (m *Mapper) Out() Out {
	var out Out
	out.Certify, out.Discards = m.verify.out()
	out.Save, out.Quanta = m.views.out()
	out.Events, out.Troubles = m.events, m.troubles
	m.events, m.troubles = nil, nil
	return out
}

// Next returns the time by which Tick must be called.
func (m *Mapper) Next() time.Duration {
	next := m.views.next()
	if at, some := m.moves.next(m.time.now); some && !m.views.saving() {
		next = min(next, at)
	}
	return m.time.raw(next)
}

// Model returns the newest durable model; nil before the first plan.
func (m *Mapper) Model() *balance.Model { return m.cluster.model }

// Clock returns the clock of the newest change seen.
func (m *Mapper) Clock() uint64 { return m.cluster.clock }

// Items returns the items; they must not be read during a call of the mapper.
func (m *Mapper) Items() balance.Items { return m.cluster.items }

// Limits returns the limits of the model's nodes.
func (m *Mapper) Limits() map[balance.NodeID]balance.Limit { return m.cluster.limits(m.cluster.model) }

// Reinit returns a quantum with the whole model, for a distributor that cannot
// follow the quanta one by one; the quanta after its number continue it. It returns
// false if there is none yet, or none that is late enough for all distributors.
func (m *Mapper) Reinit() (balance.Quantum, bool) { return m.views.reinit() }

// Waiting returns what the mapper waits for before the first plan; "" after it.
func (m *Mapper) Waiting() string {
	switch {
	case m.cluster.model != nil:
		return ""
	case !m.cluster.loaded:
		return "the items are being loaded"
	case m.views.saving():
		return "the plan is being saved"
	case len(m.joined) < m.cfg.Nodes:
		return fmt.Sprintf("%d of %d slaves have joined", len(m.joined), m.cfg.Nodes)
	}
	return "the plan failed and will be tried again"
}

// step does everything that is due.
func (m *Mapper) step(now time.Duration) {
	if !m.cluster.loaded || !m.views.floorReached() {
		return
	}
	if m.views.saveDone() {
		m.commit(now)
	}
	if now >= m.patrol {
		m.patrol = now + patrolInterval
		m.watch(now)
	}
	if m.views.publish(now) {
		m.moves.viewPublished(now, m.views.newestPublished().View())
	}
	m.verify.findings(now, func(f finding) { m.found(now, f) })
	m.verify.step(now)
	if !m.views.saving() && now >= m.retry {
		if err := m.change(now); err != nil {
			m.trouble(err)
			m.retry = now + retryPlan
		}
	}
	m.views.beat(now)
}

// stage asks for a new model to be made durable; Saved sends it.
func (m *Mapper) stage(c modelChange) {
	m.views.stage(c, balance.State{Configured: m.cfg.Replicas, Replicas: m.members.save(), Memories: m.plan.save()})
}

// commit has all go on with a model that is durable, once the floor is reached.
func (m *Mapper) commit(now time.Duration) {
	old := m.cluster.model
	c, ok := m.views.commit(now)
	if !ok {
		return
	}
	m.members.retainServed()
	for _, v := range m.cluster.model.Slaves() {
		m.node(v.Name).id = v.Node
	}
	m.moves.took(now, c)
	away, emptyNext := m.moves.out()
	for _, a := range away {
		m.plan.stayAway(a.node, a.rest)
	}
	if emptyNext {
		m.plan.emptyAt(now)
	}
	for _, o := range c.ops {
		m.note(now, o, c.why)
	}
	m.forgetSlaves(old)
}

const (
	// retryPlan is how long the mapper waits after a plan that failed.
	retryPlan = time.Second
	// patrolInterval is the time between two checks for silent nodes.
	patrolInterval = 500 * time.Millisecond
)
