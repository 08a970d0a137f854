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
	"adshard/fault"
)

// Status is the state of balancing.
type Status struct {
	Epoch, Clock uint64
	// View is the view of the newest model, and Published that of the model that masters have. They
	// are 0 if there is no such model.
	View, Published uint64
	Paused          bool
	// Waiting says what the first plan waits for. It is "" after the first plan.
	Waiting string
	plan.Status
	// Moved is how much was moved since the mapper started.
	Moved    transfer.Moved
	InFlight []transfer.Flight
	// Certificates counts the results of comparisons.
	Certificates verify.Certificates
	// WaitingFor lists the slaves and masters that have not acknowledged a view yet.
	WaitingFor []string
	// RestFor is the time since anything moved, while the last Idle iterations moved nothing. It is 0
	// while something moves.
	RestFor time.Duration
	// IgnoredLoads has the number of load reports that were ignored, by reason.
	IgnoredLoads map[string]uint64
	Shards       []ShardStatus
	// Slaves has the slaves in the order of their names. Replicas is the number of slaves that are to
	// hold each slice.
	Slaves   []SlaveStatus
	Replicas int
	// Revision is the revision of the sets of replicas.
	Revision uint64
	Scrub    verify.Scrub
	Masters  []maps.MasterStatus
}

// SlaveStatus is the state of a slave.
type SlaveStatus struct {
	balance.Slave
	// ShardName is the name of the slave's shard, or "" for a spare.
	ShardName string
	Alive     bool
	// SilentFor is the time since its last message.
	SilentFor time.Duration
	View      uint64
	Position  balance.Position
	Trouble   string
	Bytes     uint64
	// WaitsFor is what must happen before masters ask the slave, or before a spare can get a shard.
	// It is "" if nothing must.
	WaitsFor string
	// Copying is nil unless the slave copies a sibling's store.
	Copying *cluster.CopyState
}

// ShardStatus is the state of a shard. View and Position are those of the slave that has the oldest,
// among the slaves that are alive and that masters ask. Bytes is the sum over all slaves that masters
// ask.
type ShardStatus struct {
	Name  string
	State balance.ShardState
	Alive bool
	// SilentFor is the time since its last message.
	SilentFor time.Duration
	View      uint64
	Position  balance.Position
	Trouble   string
	Bytes     uint64
	Load      float64
}

// Inspector gives access to what a mapper knows and why. It changes nothing.
type Inspector struct {
	*cluster.Cluster
	*cluster.Journal
	plan    *plan.Planner
	verify  *verify.Verifier
	views   *maps.Views
	moves   *transfer.Moves
	members *replicas.Membership
	joining *joining
}

// Waiting says what the mapper waits for before the first plan. It returns "" after the first plan.
func (m *Inspector) Waiting() string { return m.joining.waiting() }

// Status returns the state of balancing.
func (m *Inspector) Status(now time.Duration) Status {
	now = m.Time.At(now)
	planned, loads := m.plan.Status(now)
	s := Status{
		Epoch: m.Config.Epoch, Clock: m.Cluster.Clock, Paused: m.Paused, Waiting: m.Waiting(), Status: planned,
		Certificates: m.verify.Counts(), IgnoredLoads: m.Loads.Ignored(), Masters: m.views.Status(now), Scrub: m.verify.ScrubStatus(now),
	}
	var moved time.Duration
	s.Moved, moved = m.moves.Moved()
	if m.Cluster.Model == nil {
		return s
	}
	s.View = m.Cluster.Model.View()
	if p := m.views.Published(); p != nil {
		s.Published = p.View()
	}
	oldest, _ := m.views.OldestAsked(now)
	s.InFlight = m.moves.Flights(now, oldest)
	if len(s.InFlight) == 0 && s.Idle > 0 {
		s.RestFor = now - max(s.IdleSince, moved)
	}
	s.WaitingFor = m.views.WaitingFor(now, m.moves.AnyLeaves())
	for _, sh := range m.Cluster.Model.Shards() {
		s.Shards = append(s.Shards, m.shardStatus(now, sh, loads[sh.ID]))
	}
	s.Slaves, s.Replicas, s.Revision = m.slaveStatus(now), m.members.Replicas(), m.Cluster.Model.Revision()
	return s
}

// shardStatus returns the state of a shard, from the states of the slaves that masters ask.
func (m *Inspector) shardStatus(now time.Duration, sh balance.Shard, load float64) ShardStatus {
	out := ShardStatus{Name: sh.Name, State: sh.State, Alive: m.Up(sh.ID, now), SilentFor: m.Silence(sh.ID, now), Load: load}
	out.Trouble, _ = m.Ailing(sh.ID, now)
	first := true
	for _, s := range m.Cluster.Model.Set(sh.ID) {
		v := m.Slaves[s.Name]
		out.Bytes += v.Bytes
		if m.Alive(s.Name, now) || !out.Alive {
			if first || v.Table.View < out.View {
				out.View = v.Table.View
			}
			if first || v.Position.Compare(out.Position) < 0 {
				out.Position = v.Position
			}
			if first && !out.Alive {
				out.Trouble = v.Trouble
			}
			first = false
		}
	}
	return out
}

// WaitsFor returns, by slave, what must happen before masters ask the slave, or before a spare that
// left a shard can get another one.
func (m *Inspector) WaitsFor(now time.Duration) map[string]string {
	return m.members.WaitsFor(m.Time.At(now))
}

// slaveStatus returns the state of each slave.
func (m *Inspector) slaveStatus(now time.Duration) (out []SlaveStatus) {
	waits := m.members.WaitsFor(now)
	for _, s := range m.Cluster.Model.Slaves() {
		v := m.Slaves[s.Name]
		out = append(out, SlaveStatus{
			Slave: s, ShardName: m.Name(s.Shard), Alive: m.Alive(s.Name, now), SilentFor: now - v.Heard, View: v.Table.View,
			Position: v.Position, Trouble: v.Trouble, Bytes: v.Bytes, WaitsFor: waits[s.Name],
			Copying: v.Copying,
		})
	}
	return out
}

// Recheck returns the progress of comparing the data of a slave whose store was opened without having
// been closed. It returns nil if they are not compared and need not be.
func (m *Inspector) Recheck(name string) *verify.RecheckState {
	if m.Cluster.Model == nil {
		return nil
	}
	return m.verify.RecheckOf(name)
}

// Plan asks the strategy what it would do now, but does not do it. Errors: fault.Unavailable before
// the first plan, fault.Conflict if the mapper would reject the proposal.
func (m *Inspector) Plan(now time.Duration) (balance.Proposal, error) {
	now = m.Time.At(now)
	if m.Cluster.Model == nil {
		return balance.Proposal{}, m.joining.noPlan()
	}
	it := m.plan.Propose(now)
	if it.Refused != "" {
		return it.Proposal, fault.Newf(fault.Conflict, "balance: plan", "strategy %s: %s", it.Strategy, it.Refused)
	}
	return it.Proposal, nil
}

// Input returns the input that a strategy would get now, for displays of the placement. It must not
// be used after the next call of the mapper. It returns false if there is no model yet.
func (m *Inspector) Input(now time.Duration) (balance.Input, bool) {
	now = m.Time.At(now)
	if m.Cluster.Model == nil {
		return balance.Input{}, false
	}
	return m.plan.Input(now), true
}
