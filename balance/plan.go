package balance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/fault"
)

// change stages the next change of the model, if one is due: all that moves,
// nodes and commands require, in one quantum; otherwise an iteration, or the
// evacuation of nodes that drain or are lost.
func (m *Mapper) change(now time.Duration) error {
	if m.model == nil {
		if len(m.joined) < max(1, m.cfg.Nodes) {
			return nil
		}
		return m.first(now)
	}
	e, why := &lazyEdit{m: m}, make(causes)
	m.admit(e)
	m.obey(now, e, why)
	m.dueMoves(now, e)
	if e.idle() {
		m.arrange(now, e)
	}
	if m.filling && !m.model.filled {
		if m.filling = false; m.firstFilled() {
			e.try((*Edit).Filled)
		}
	}
	if e.e != nil && len(e.e.Ops()) > 0 {
		model, err := e.e.Model()
		if err != nil {
			return err
		}
		m.stage(model, e.e.Ops(), why)
		return nil
	}
	if m.members.changed || m.planning.forgot {
		m.stage(m.model, []Op{}, why)
		return nil
	}
	switch {
	case now >= m.planning.next && m.cfg.Interval > 0:
		m.planning.next = now + m.cfg.Interval
		m.iteration(now)
	case now >= m.planning.empty:
		m.empty(now)
	}
	return nil
}

// obey executes commands, and makes empty nodes Drained.
func (m *Mapper) obey(now time.Duration, e *lazyEdit, why causes) {
	for _, o := range m.commands {
		if o.slave != "" {
			e.try(func(e *Edit) error { return m.obeySlave(now, e, o) })
			continue
		}
		if o.remove {
			e.try(func(e *Edit) error { return m.remove(now, e, o.node) })
			continue
		}
		if o.slice == 0 {
			e.try(func(e *Edit) error { return e.SetState(o.node, o.state) })
			continue
		}
		why[causeOf{o.slice, 0}] = cause{text: "by command", commanded: true}
		e.try(func(e *Edit) error { return e.Start(o.slice, o.node) })
	}
	m.commands = nil
	for _, n := range m.planning.drained {
		switch s, _ := m.model.Node(n); s.State {
		case Draining:
			e.try(func(e *Edit) error { return e.SetState(n, Drained) })
		case Dissolving:
			e.try(func(e *Edit) error { return m.end(e, n) })
		}
	}
	m.planning.drained = m.planning.drained[:0]
}

// end removes a shard that has no slices left; its slaves are spares.
func (m *Mapper) end(e *Edit, id NodeID) error {
	for _, s := range m.model.Replicas(id) {
		if err := e.Release(s.Name); err != nil {
			return err
		}
	}
	return e.Remove(id)
}

// remove removes a node unless it has come back since the command.
func (m *Mapper) remove(now time.Duration, e *Edit, id NodeID) error {
	if n, ok := m.model.Node(id); ok && m.silence(id, now) < m.cfg.DeadAfter {
		return fault.Newf(fault.Conflict, "balance: remove", "node %s is not removed: it has come back", n.Name)
	}
	return e.Remove(id)
}

// admit adds new slaves to the model: as nodes without slices while a node is one
// slave, else as spares. It updates where they are.
func (m *Mapper) admit(e *lazyEdit) {
	for _, j := range m.joined {
		slave, ok := m.model.Slave(j.Name)
		_, taken := m.model.Named(j.Name)
		switch {
		case !ok && m.members.replicas == 1 && !taken:
			e.try(func(e *Edit) error { _, err := e.Join(j.Name, j.Site); return err })
		case !ok:
			e.try(func(e *Edit) error { return e.Enlist(j.Name, j.Site, len(j.Table.Slices) > 0) })
		case slave.Site != j.Site:
			e.try(func(e *Edit) error { return e.Place(j.Name, j.Site) })
		}
	}
	m.joined = nil
}

// first makes the first model: the nodes' own tables if they tile the ring in
// one view (stores built offline), else the strategy's plan.
func (m *Mapper) first(now time.Duration) error {
	slices.SortFunc(m.joined, func(a, b Joining) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	model, err := Adopt(m.joined)
	if err == nil {
		m.planning.adopted = true
		m.planning.last.Proposal.Expected = Measure(model, m.items, m.limits(model))
		m.joined = nil
		m.stage(model, nil, nil)
		return nil
	}
	var slaves []Slave
	for _, j := range m.joined {
		slaves = append(slaves, Slave{Name: j.Name, Site: j.Site})
		if len(j.Table.Slices) > 0 {
			m.trouble(fmt.Errorf(
				"node %s holds data that is discarded because the nodes' data do not fit together: %w", j.Name, err))
		}
	}
	base, err := Compose(slaves, m.members.replicas)
	if err != nil {
		return err
	}
	model, proposal, err := PlanOn(m.cfg.Strategy, m.cfg.Order, base, m.items, m.cfg.Limits, m.timeOfDay())
	if err != nil {
		return err
	}
	m.recall.keep(m.cfg.Strategy.Name(), proposal.Memory)
	m.planning.last = Iteration{At: now, Strategy: m.cfg.Strategy.Name(), Proposal: proposal}
	for _, r := range proposal.Reasons {
		if r.Op >= 0 && r.Op < len(proposal.Ops) {
			r.Slice = proposal.Ops[r.Op].Slice
		}
		if r.Slice != 0 {
			m.memory.add(now, r.Slice, "the first plan, of "+m.cfg.Strategy.Name()+": "+r.Text)
		}
	}
	m.joined = nil
	m.stage(model, nil, nil)
	return nil
}

// Plan makes the first model of nodes that are one slave each.
func Plan(s Strategy, order Order, nodes []Node, items Items, limits map[string]Limit) (*Model, Proposal, error) {
	base, err := NewModel(nodes)
	if err != nil {
		return nil, Proposal{}, err
	}
	return PlanOn(s, order, base, items, limits, time.Time{})
}

// PlanOn makes the first model by a strategy, of one of view 0: for the mapper and
// for stores that are built offline, where the time at is zero.
func PlanOn(s Strategy, order Order, base *Model, items Items, limits map[string]Limit, at time.Time) (*Model, Proposal, error) {
	proposal, err := s.Initial(Input{Model: base, Items: items, Order: order, Limits: byID(base, limits), Time: at})
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s: %w", s.Name(), err)
	}
	if why := refuseMemory(proposal.Memory); why != "" {
		return nil, Proposal{}, fault.Newf(fault.Invalid, "balance: plan", "strategy %s: %s", s.Name(), why)
	}
	model, err := base.Apply(proposal.Ops)
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s made an impossible proposal: %w", s.Name(), err)
	}
	return model, proposal, nil
}

func (m *Mapper) limits(model *Model) map[NodeID]Limit { return byID(model, m.cfg.Limits) }

// byID returns the limits of a model's nodes: those of their slaves. Slaves of one
// node share its queries, and each has all of its items.
func byID(m *Model, limits map[string]Limit) map[NodeID]Limit {
	out := make(map[NodeID]Limit, len(limits))
	if len(limits) == 0 {
		return out
	}
	single := !slices.ContainsFunc(m.Nodes(), func(n Node) bool { return len(m.Set(n.ID)) > 1 })
	for _, n := range m.Nodes() {
		var sum Limit
		given := false
		for _, s := range m.Set(n.ID) {
			l, ok := limits[s.Name]
			given = given || ok
			sum.Share += uint32(l.share())
			if l.Weight > 0 && (sum.Weight == 0 || l.Weight < sum.Weight) {
				sum.Weight = l.Weight
			}
		}
		if given || !single {
			out[n.ID] = sum
		}
	}
	return out
}
