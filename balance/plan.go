package balance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/fault"
)

// change stages the next change of the model, if one is due.
func (m *Mapper) change(now time.Duration) error {
	if m.model == nil {
		if len(m.joined) < max(1, m.cfg.Nodes) {
			return nil
		}
		return m.first()
	}
	if len(m.joined) > 0 {
		return m.admit()
	}
	if m.cfg.Interval == 0 || now < m.iterate {
		return nil
	}
	m.iterate = now + m.cfg.Interval
	return m.iteration()
}

// first makes the first model: the nodes' own tables if they tile the ring in
// one view (stores built offline), else the strategy's plan.
func (m *Mapper) first() error {
	slices.SortFunc(m.joined, func(a, b Joining) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	model, err := Adopt(m.joined)
	if err == nil {
		m.report.Adopted = true
		m.report.Proposal.Expected = Measure(model, m.items, m.limits(model))
		m.joined = nil
		m.stage(model, nil)
		return nil
	}
	var nodes []Node
	for _, j := range m.joined {
		nodes = append(nodes, Node{Name: j.Name, Address: j.Address})
		if len(j.Table.Slices) > 0 {
			m.out.Troubles = append(m.out.Troubles, fmt.Errorf(
				"node %s holds data that is given up, since the nodes' data do not fit together: %w", j.Name, err))
		}
	}
	model, proposal, err := Plan(m.cfg.Strategy, m.cfg.Order, nodes, m.items, m.cfg.Limits)
	if err != nil {
		return err
	}
	m.report.Proposal = proposal
	m.joined = nil
	m.stage(model, nil)
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
		return nil, Proposal{}, fmt.Errorf("strategy %s proposed what cannot be: %w", s.Name(), err)
	}
	return model, proposal, nil
}

// Adopt makes a model of what the nodes hold. Its view is one more than theirs,
// so that each learns of the others. It fails with fault.Conflict when the
// slices that they serve in their newest view do not tile the ring, or are
// foreign.
func Adopt(nodes []Joining) (*Model, error) {
	m := &Model{nextSlice: 1, nextNode: 1}
	for _, j := range nodes {
		m.view = max(m.view, j.Table.View)
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
				return nil, fault.Newf(fault.Conflict, "balance: adopt", "node %s does not serve its slice %d", j.Name, h.ID)
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

// admit gives nodes that are new their place in the model, with nothing to
// hold yet, and learns new addresses.
func (m *Mapper) admit() error {
	e := m.model.Edit()
	for _, j := range m.joined {
		node, known := m.model.Named(j.Name)
		var err error
		switch {
		case !known:
			_, err = e.Join(j.Name, j.Address)
		case node.Address != j.Address:
			err = e.Address(node.ID, j.Address)
		}
		if err != nil {
			return err
		}
	}
	m.joined = nil
	if len(e.Ops()) == 0 {
		return nil
	}
	model, err := e.Model()
	if err != nil {
		return err
	}
	m.stage(model, e.Ops())
	return nil
}

// iteration asks the strategy. This mapper moves no slice that is served: what
// would take one out of service is refused, with the rest of its proposal.
func (m *Mapper) iteration() error {
	proposal, err := m.cfg.Strategy.Iterate(Input{
		Model: m.model, Items: m.items, Order: m.cfg.Order, Limits: m.limits(m.model),
	})
	if err != nil {
		return fmt.Errorf("strategy %s: %w", m.cfg.Strategy.Name(), err)
	}
	for _, o := range proposal.Ops {
		if o.Kind != OpSplit && o.Kind != OpMerge {
			return fault.Newf(fault.Invalid, "balance: iterate",
				"strategy %s wants to %s, but slices in service stay where they are", m.cfg.Strategy.Name(), o)
		}
	}
	m.report.Proposal = proposal
	if len(proposal.Ops) == 0 {
		return nil
	}
	model, err := m.model.Apply(proposal.Ops)
	if err != nil {
		return fmt.Errorf("strategy %s proposed what cannot be: %w", m.cfg.Strategy.Name(), err)
	}
	m.stage(model, proposal.Ops)
	return nil
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
