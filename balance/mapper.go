package balance

import (
	"fmt"
	"time"
)

// Mapper keeps the model, issues quanta (thesis 6.3.3) and drives moves. Every
// call may leave work in Out. A change of the model is durable before anybody
// receives it, one change at a time: what becomes due meanwhile is part of the
// next.
type Mapper struct {
	*cluster
	*journal
	plan   *planner
	verify *verifier

	floor  uint64 // no quantum has a lower clock
	loaded bool
	since  time.Duration // when it was loaded
	// resumed is set if there was a mapper before, whose views masters may have.
	resumed bool

	number  uint64 // of the newest quantum
	last    time.Duration
	stamped uint64  // clock of the newest quantum
	staged  *staged // waits to be saved
	filling bool    // a table has changed: the first fill may be over
	saves   uint64

	joined   []Joining // waiting for the first plan, or for their place in the model
	views    views
	moves    moves
	commands []command // by operators, not executed yet
	members  membership
	// entrances are the slaves that are to join a set, by name.
	entrances map[string]*entrance
	patrol    time.Duration // when silent nodes and stalled moves are looked for
	retry     time.Duration
	counters  counters
	out       MapperOut
}

// modelChange is a change of the model.
type modelChange struct {
	model *Model
	ops   []Op // nil: the quantum carries the whole model
	why   causes
}

// staged is a change of the model that is not durable yet.
type staged struct {
	modelChange
	seq     uint64
	durable bool // only the floor is awaited
}

// MapperOut is the work of a mapper's caller, in this order.
type MapperOut struct {
	// Save, when set, is to be made durable; then Saved is called with Seq.
	Save *SaveState
	// Quanta go to all distributors.
	Quanta []Quantum
	// Certify is to be answered with Certified, each once.
	Certify []Certify
	// Discards are to be sent to their nodes; they are repeated until the nodes
	// have carried them out.
	Discards []Discard
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

// Event is something that happened.
type Event struct {
	// Slice is 0 and Node "" unless the event concerns a single one.
	Slice uint64
	Node  string
	Text  string
	// Step is set for frequent events: the steps of moves and views.
	Step bool
}

// String describes the event.
func (e Event) String() string {
	switch {
	case e.Slice != 0:
		return fmt.Sprintf("slice %d: %s", e.Slice, e.Text)
	case e.Node != "":
		return fmt.Sprintf("node %s: %s", e.Node, e.Text)
	}
	return e.Text
}

// NewMapper returns a mapper. The caller fills items before Loaded; afterwards the
// mapper maintains it, and distributors may read it between calls. state is what
// an earlier mapper saved, or nil. Errors are
// those of DecodeState.
func NewMapper(cfg MapperConfig, items *Index, state []byte) (*Mapper, error) {
	cfg = cfg.WithDefaults()
	c, j := newCluster(cfg, items), newJournal()
	m := &Mapper{
		cluster: c, journal: j, plan: newPlanner(c, j), views: newViews(), moves: newMoves(), verify: newVerifier(c, j),
		members: newMembership(cfg.Replicas), entrances: map[string]*entrance{},
	}
	if state == nil {
		return m, nil
	}
	s, err := DecodeState(state)
	if err != nil {
		return nil, err
	}
	m.model, m.number, m.resumed = s.Model, s.Quantum, true
	m.members.resume(s)
	m.plan.recall = newRecall(s.Memories, cfg.Strategy.Name())
	return m, nil
}

// Loaded is called once the index holds all items as of clock (burst start,
// thesis 6.3.12). A mapper with a saved model announces it now and resumes its
// moves.
func (m *Mapper) Loaded(now time.Duration, clock uint64) {
	now = m.time.at(now)
	m.loaded, m.clock, m.since = true, clock, now
	m.plan.next, m.plan.empty = now+m.cfg.Interval, now+emptyPace
	m.verify.scrub.next = now + min(m.cfg.Scrub/10, scrubDelay)
	if m.model != nil { // it is durable already
		m.staged = &staged{modelChange: modelChange{model: m.model}, durable: true}
		m.commit(now)
	}
	m.step(now)
}

// Changes takes changes of items and parents, in ascending clock order, each above the
// last.
func (m *Mapper) Changes(now time.Duration, list []Change) {
	now = m.time.at(now)
	for _, c := range list {
		m.clock = c.Clock
		m.verify.touch(c)
		m.items.Follow(c)
	}
	m.step(now)
}

// Weigh sets the weight of an item; unknown items are ignored.
func (m *Mapper) Weigh(k Key, weight uint32) {
	if _, ok := m.items.Get(k); ok {
		m.items.Put(k, weight)
	}
}

// Tick advances the time.
func (m *Mapper) Tick(now time.Duration) { m.step(m.time.at(now)) }

// Floor sets a lower bound of the clocks of quanta: some distributor has processed
// changes up to it. Until the mapper has seen them too, it issues no quanta.
func (m *Mapper) Floor(clock uint64) { m.floor = max(m.floor, clock) }

// Saved confirms that the state with this number is durable; its quantum is sent.
func (m *Mapper) Saved(now time.Duration, seq uint64) {
	now = m.time.at(now)
	if m.staged == nil || m.staged.seq != seq {
		return
	}
	m.staged.durable = true
	m.step(now)
}

// Out returns the pending work and clears it.
func (m *Mapper) Out() MapperOut {
	out := m.out
	out.Certify, out.Discards = m.verify.out()
	out.Events, out.Troubles = m.events, m.troubles
	m.out, m.events, m.troubles = MapperOut{}, nil, nil
	return out
}

// Next returns the time by which Tick must be called.
func (m *Mapper) Next() time.Duration {
	next := m.last + m.cfg.Beat
	if m.model != nil && m.loaded && m.clock > m.stamped {
		next = m.last + m.cfg.Pace
	}
	if len(m.moves.ready) > 0 && m.staged == nil {
		next = min(next, m.due(m.time.now))
	}
	return m.time.raw(next)
}

// Model returns the newest durable model; nil before the first plan.
func (m *Mapper) Model() *Model { return m.model }

// Clock returns the clock of the newest change seen.
func (m *Mapper) Clock() uint64 { return m.clock }

// Items returns the items; they must not be read during a call of the mapper.
func (m *Mapper) Items() Items { return m.items }

// Limits returns the limits of the model's nodes.
func (m *Mapper) Limits() map[NodeID]Limit { return m.limits(m.model) }

// Reinit returns a quantum with the whole model, for a distributor that cannot
// follow the quanta one by one; the quanta after its number continue it. It returns
// false if there is none yet, or none that is late enough for all distributors.
func (m *Mapper) Reinit() (Quantum, bool) {
	if m.model == nil || !m.loaded || m.number == 0 || m.stamped < m.floor {
		return Quantum{}, false
	}
	return Quantum{
		Epoch: m.cfg.Epoch, Number: m.number, Clock: m.stamped, View: m.model.View(), Model: m.model,
	}, true
}

// Waiting returns what the mapper waits for before the first plan; "" after it.
func (m *Mapper) Waiting() string {
	switch {
	case m.model != nil:
		return ""
	case !m.loaded:
		return "the items are being loaded"
	case m.staged != nil:
		return "the plan is being saved"
	case len(m.joined) < m.cfg.Nodes:
		return fmt.Sprintf("%d of %d slaves have joined", len(m.joined), m.cfg.Nodes)
	}
	return "the plan failed and will be tried again"
}

// step does everything that is due.
func (m *Mapper) step(now time.Duration) {
	if !m.loaded || m.clock < m.floor {
		return
	}
	if m.staged != nil && m.staged.durable {
		m.commit(now)
	}
	if now >= m.patrol {
		m.patrol = now + patrolInterval
		m.watch(now)
	}
	m.publish(now)
	m.certify(now)
	if m.staged == nil && now >= m.retry {
		if err := m.change(now); err != nil {
			m.trouble(err)
			m.retry = now + retryPlan
		}
	}
	if m.model == nil {
		m.last = now
		return
	}
	if m.clock > m.stamped && now >= m.last+m.cfg.Pace || now >= m.last+m.cfg.Beat {
		m.emit(now, Quantum{})
	}
}

// emit stamps a quantum and sends it.
func (m *Mapper) emit(now time.Duration, q Quantum) {
	m.number++
	q.Epoch, q.Number, q.Clock, q.View = m.cfg.Epoch, m.number, m.clock, m.model.View()
	m.last, m.stamped = now, m.clock
	m.out.Quanta = append(m.out.Quanta, q)
}

// stage asks for a new model to be made durable; Saved sends it.
func (m *Mapper) stage(c modelChange) {
	m.saves++
	m.staged = &staged{modelChange: c, seq: m.saves}
	m.members.changed, m.plan.forgot = false, false
	state := State{
		Quantum: m.number, Configured: m.cfg.Replicas, Replicas: m.members.replicas, Model: c.model,
		Memories: m.plan.recall.list(m.plan.strategy.Name()),
	}
	m.out.Save = &SaveState{Seq: m.saves, Bytes: state.Encode()}
}

// commit sends a model that is durable, once the floor is reached.
func (m *Mapper) commit(now time.Duration) {
	if m.clock < m.floor {
		return
	}
	s := m.staged
	old := m.model
	m.staged, m.model = nil, s.model
	m.retainServed()
	for _, v := range s.model.Slaves() {
		m.node(v.Name).id = v.Node
	}
	if p := m.views.published; p != nil {
		m.views.published = p.WithMembers(s.model)
	}
	if s.ops == nil {
		m.emit(now, Quantum{Model: s.model})
	} else {
		m.emit(now, Quantum{Ops: s.ops})
	}
	if old == nil || old.View() != s.model.View() || s.ops == nil {
		m.await(now, s.model)
	}
	m.took(now, s)
	m.forgetSlaves(old)
}
