package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/maps"
	"adshard/balance/plan"
	"adshard/balance/replicas"
	"adshard/balance/transfer"
	"adshard/balance/verify"
)

// Mapper connects the machines that balance a cluster (see the package comment). Every call
// may leave work in Out. A change of the model is made durable before it is sent, and there
// is only one such change at a time: what becomes due meanwhile is part of the next one.
type Mapper struct {
	*cluster.Cluster
	*cluster.Journal
	plan    *plan.Planner
	verify  *verify.Verifier
	views   *maps.Views
	moves   *transfer.Moves
	members *replicas.Membership
	orders  *orders
	joining *joining
	Inspector
	Distributed

	filling bool // a table has changed, so the first fill may be complete

	patrol time.Duration // when to check next for silent slaves and stalled moves
	retry  time.Duration
}

// Out is the work for the mapper's caller, to be done in this order.
type Out struct {
	// Save, if it is set, is to be made durable. After that, call Saved with its Seq.
	Save *maps.SaveState
	// Quanta are to be sent to all distributors.
	Quanta []balance.Quantum
	// Certify has questions. Answer each of them once, by Certified.
	Certify []balance.Certify
	// Discards are to be sent to their slaves. They are repeated until the slaves have
	// carried them out.
	Discards []balance.Discard
	// Troubles are errors to be logged. The mapper continues after them.
	Troubles []error
	// Events say what has happened.
	Events []cluster.Event
}

// New returns a mapper. The caller fills items before it calls Loaded. After that, the
// mapper maintains items, and distributors may read them between calls. state is the state
// that an earlier mapper saved, or nil. Errors: those of DecodeState.
func New(cfg cluster.Config, items *balance.Index, state []byte) (*Mapper, error) {
	cfg = cfg.WithDefaults()
	c, j := cluster.New(cfg, items), cluster.NewJournal()
	q, w := verify.New(c, j), maps.New(c, j)
	m := &Mapper{
		Cluster: c, Journal: j, plan: plan.New(c, j), views: w, moves: transfer.New(c, j, q), verify: q,
		members: replicas.New(c, j, q, w),
	}
	m.orders = newOrders(c, m.plan, w, m.members)
	m.joining = &joining{Cluster: c, views: w, members: m.members}
	m.Distributed = Distributed{w}
	m.Inspector = Inspector{c, j, m.plan, q, w, m.moves, m.members, m.joining}
	if state == nil {
		return m, nil
	}
	s, err := balance.DecodeState(state)
	if err != nil {
		return nil, err
	}
	m.Cluster.Model = s.Model
	m.views.Resume(s.Quantum)
	m.members.Resume(s)
	m.plan.Resume(s.Memories)
	return m, nil
}

// Loaded must be called when the index has all items as of clock (burst start, thesis
// 6.3.12). A mapper with a saved model then announces it and resumes its moves.
func (m *Mapper) Loaded(now time.Duration, clock uint64) {
	now = m.Time.At(now)
	m.Cluster.Loaded, m.Cluster.Clock = true, clock
	m.plan.ItemsLoaded(now)
	m.verify.ItemsLoaded(now)
	if m.views.ItemsLoaded(now) {
		m.commit(now)
	}
	m.step(now)
}

// Changes takes changes of items and parents. They must be in ascending order of clocks, all
// above those before.
func (m *Mapper) Changes(now time.Duration, list []balance.Change) {
	now = m.Time.At(now)
	for _, c := range list {
		m.Cluster.Clock = c.Clock
		m.verify.Touch(c)
		m.Cluster.Items.Follow(c)
	}
	m.step(now)
}

// Weigh sets the weight of an item. Unknown items are ignored.
func (m *Mapper) Weigh(k balance.Key, weight uint32) {
	if _, ok := m.Cluster.Items.Get(k); ok {
		m.Cluster.Items.Put(k, weight)
	}
}

// Tick advances the time.
func (m *Mapper) Tick(now time.Duration) { m.step(m.Time.At(now)) }

// Floor sets a lower bound for the clocks of quanta, since some distributor has processed
// changes up to this clock. The mapper sends no quanta until it has seen these changes too.
func (m *Mapper) Floor(clock uint64) { m.views.SetFloor(clock) }

// Saved says that the state with this number is durable. Its quantum is then sent.
func (m *Mapper) Saved(now time.Duration, seq uint64) {
	now = m.Time.At(now)
	if m.views.Saved(seq) {
		m.step(now)
	}
}

// Out returns the pending work and clears it.
func (m *Mapper) Out() Out {
	var out Out
	out.Certify, out.Discards = m.verify.Out()
	out.Save, out.Quanta = m.views.Out()
	out.Events, out.Troubles = m.Events, m.Troubles
	m.Events, m.Troubles = nil, nil
	return out
}

// Next returns the time at which Tick must be called at the latest.
func (m *Mapper) Next() time.Duration {
	next := m.views.Next()
	if at, some := m.moves.Next(m.Time.Now); some && !m.views.Saving() {
		next = min(next, at)
	}
	return m.Time.Raw(next)
}

// Model returns the newest durable model, or nil before the first plan.
func (m *Mapper) Model() *balance.Model { return m.Cluster.Model }

// Clock returns the clock of the newest change seen.
func (m *Mapper) Clock() uint64 { return m.Cluster.Clock }

// Items returns the items. They must not be read during a call of the mapper.
func (m *Mapper) Items() balance.Items { return m.Cluster.Items }

// Limits returns the limits of the model's shards.
func (m *Mapper) Limits() map[balance.ShardID]balance.Limit { return m.Cluster.Limits(m.Cluster.Model) }

// step does everything that is due.
func (m *Mapper) step(now time.Duration) {
	if !m.Cluster.Loaded || !m.views.FloorReached() {
		return
	}
	if m.views.SaveDone() {
		m.commit(now)
	}
	if now >= m.patrol {
		m.patrol = now + patrolInterval
		m.watch(now)
	}
	if m.views.Publish(now) {
		m.moves.ViewPublished(now, m.views.Published().View())
	}
	found := findings{m.Cluster, m.verify, m.moves, m.members}
	m.verify.Findings(now, func(f verify.Finding) { found.found(now, f) })
	m.verify.Step(now)
	if !m.views.Saving() && now >= m.retry {
		if err := m.change(now); err != nil {
			m.Trouble(err)
			m.retry = now + retryPlan
		}
	}
	m.views.Beat(now)
}

// stage starts to save a new model. After Saved, the model is sent.
func (m *Mapper) stage(c cluster.Change) {
	m.views.Stage(c, balance.State{Configured: m.Config.Replicas, Replicas: m.members.Save(), Memories: m.plan.Save()})
}

// commit makes all machines continue with a model that is durable, once the floor is
// reached.
func (m *Mapper) commit(now time.Duration) {
	old := m.Cluster.Model
	c, ok := m.views.Commit(now)
	if !ok {
		return
	}
	m.members.RetainServed()
	for _, v := range m.Cluster.Model.Slaves() {
		m.Slave(v.Name).Id = v.Shard
	}
	m.moves.Took(now, c)
	away, emptyNext := m.moves.Out()
	for _, a := range away {
		m.plan.StayAway(a.Shard, a.Rest)
	}
	if emptyNext {
		m.plan.EmptyAt(now)
	}
	for _, o := range c.Ops {
		m.note(now, o, c.Why)
	}
	m.forgetSlaves(old)
}

const (
	// retryPlan is how long the mapper waits after a failed plan.
	retryPlan = time.Second
	// patrolInterval is the time between two checks for silent slaves.
	patrolInterval = 500 * time.Millisecond
)
