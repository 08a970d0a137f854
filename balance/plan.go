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
		if o.remove {
			e.try(func(e *Edit) error { return m.remove(now, e, o.node) })
			continue
		}
		if o.slice == 0 {
			e.try(func(e *Edit) error { return e.SetState(o.node, o.state) })
			continue
		}
		why[causeOf{o.slice, 0}] = cause{text: byCommand}
		e.try(func(e *Edit) error { return e.Start(o.slice, o.node) })
	}
	m.commands = nil
	for _, n := range m.planning.drained {
		if s, ok := m.model.Node(n); ok && s.State == Draining {
			e.try(func(e *Edit) error { return e.SetState(n, Drained) })
		}
	}
	m.planning.drained = m.planning.drained[:0]
}

// remove removes a node unless it has come back since the command.
func (m *Mapper) remove(now time.Duration, e *Edit, id NodeID) error {
	if n, ok := m.model.Node(id); ok && m.alive(n.Name, now) {
		return fault.Newf(fault.Conflict, "balance: remove", "node %s is not removed: it has come back", n.Name)
	}
	return e.Remove(id)
}

// admit adds new nodes to the model, without slices, and updates addresses.
func (m *Mapper) admit(e *lazyEdit) {
	for _, j := range m.joined {
		node, ok := m.model.Named(j.Name)
		switch {
		case !ok:
			e.try(func(e *Edit) error { _, err := e.Join(j.Name, j.Address); return err })
		case node.Address != j.Address:
			e.try(func(e *Edit) error { return e.Address(node.ID, j.Address) })
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
	var nodes []Node
	for _, j := range m.joined {
		nodes = append(nodes, Node{Name: j.Name, Address: j.Address})
		if len(j.Table.Slices) > 0 {
			m.trouble(fmt.Errorf(
				"node %s holds data that is discarded because the nodes' data do not fit together: %w", j.Name, err))
		}
	}
	model, proposal, err := Plan(m.cfg.Strategy, m.cfg.Order, nodes, m.items, m.cfg.Limits)
	if err != nil {
		return err
	}
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

// Plan makes the first model by a strategy: for the mapper and for stores that
// are built offline.
func Plan(s Strategy, order Order, nodes []Node, items Items, limits map[string]Limit) (*Model, Proposal, error) {
	base, err := NewModel(nodes)
	if err != nil {
		return nil, Proposal{}, err
	}
	proposal, err := s.Initial(Input{Model: base, Items: items, Order: order, Limits: byID(base, limits)})
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s: %w", s.Name(), err)
	}
	model, err := base.Apply(proposal.Ops)
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s made an impossible proposal: %w", s.Name(), err)
	}
	return model, proposal, nil
}

// Adopt makes a model from the nodes' tables. Its view is one above theirs, so that
// each node receives it. It fails with fault.Conflict when the
// slices that they serve in their newest view do not tile the ring, or are
// foreign.
func Adopt(nodes []Joining) (*Model, error) {
	m := &Model{nextSlice: 1, nextNode: 1}
	for _, j := range nodes {
		m.view, m.least = max(m.view, j.Table.View), max(m.least, j.Table.Least)
	}
	for _, j := range nodes {
		node := Node{ID: m.nextNode, Name: j.Name, Address: j.Address}
		m.nextNode++
		m.nodes = append(m.nodes, node)
		if j.Foreign {
			return nil, fault.Newf(fault.Conflict, "balance: adopt",
				"node %s holds data of another database or order of keys", j.Name)
		}
		if j.Position.Offset != 0 {
			return nil, fault.Newf(fault.Conflict, "balance: adopt", "node %s is not filled to its end", j.Name)
		}
		for _, h := range j.Table.Slices {
			if h.From == 0 || h.From > m.view || h.Until != 0 && h.Until < m.view {
				continue // it comes or goes
			}
			m.slices = append(m.slices, Slice{
				ID: h.ID, Lo: h.Lo, Hi: h.Hi, Generation: h.Generation, Node: node.ID, From: h.From,
			})
			m.nextSlice = max(m.nextSlice, h.ID+1)
		}
	}
	m.view++
	slices.SortFunc(m.slices, func(a, b Slice) int { return cmp.Compare(a.Lo, b.Lo) })
	if err := m.check(); err != nil || len(m.slices) == 0 {
		return nil, fault.Newf(fault.Conflict, "balance: adopt", "the nodes' slices do not tile the ring: %w", err)
	}
	return m, nil
}

func (m *Mapper) limits(model *Model) map[NodeID]Limit { return byID(model, m.cfg.Limits) }

func byID(m *Model, limits map[string]Limit) map[NodeID]Limit {
	out := make(map[NodeID]Limit, len(limits))
	for _, n := range m.Nodes() {
		if l, ok := limits[n.Name]; ok {
			out[n.ID] = l
		}
	}
	return out
}
