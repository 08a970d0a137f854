package mapper

import (
	"time"

	"adshard/balance"
)

// change stages the next change of the model, if one is due: all that moves,
// nodes and commands require, in one quantum; otherwise an iteration, or the
// evacuation of nodes that drain or are lost.
func (m *Mapper) change(now time.Duration) error {
	if m.model == nil {
		if len(m.joined) < max(1, m.cfg.Nodes) {
			return nil
		}
		model, err := m.plan.first(now, m.joined, m.members.replicas)
		if err == nil {
			m.joined = nil
			m.stage(modelChange{model: model})
		}
		return err
	}
	e, why := &lazyEdit{cluster: m.cluster, journal: m.journal}, make(causes)
	m.admit(e)
	m.orders.obey(now, e, why)
	m.moves.dueMoves(now, e, m.views)
	for _, slave := range m.moves.left {
		m.members.keep(slave)
	}
	m.moves.left = nil
	if e.idle() {
		m.members.arrange(now, e)
	}
	if m.filling && !m.model.Filled() {
		if m.filling = false; m.firstFilled() {
			e.try((*balance.Edit).Filled)
		}
	}
	if e.e != nil && len(e.e.Ops()) > 0 {
		model, err := e.e.Model()
		if err != nil {
			return err
		}
		m.stage(modelChange{model, e.e.Ops(), why})
		return nil
	}
	if m.members.changed || m.plan.forgot {
		m.stage(modelChange{m.model, []balance.Op{}, why})
		return nil
	}
	if d := m.plan.due(now); d != nil {
		m.stage(*d)
	}
	return nil
}

// admit adds new slaves to the model: as nodes without slices while a node is one
// slave, else as spares. It updates where they are.
func (m *Mapper) admit(e *lazyEdit) {
	for _, j := range m.joined {
		slave, ok := m.model.Slave(j.Name)
		_, taken := m.model.Named(j.Name)
		switch {
		case !ok && m.members.replicas == 1 && !taken:
			e.try(func(e *balance.Edit) error { _, err := e.Join(j.Name, j.Site); return err })
		case !ok:
			e.try(func(e *balance.Edit) error { return e.Enlist(j.Name, j.Site, len(j.Table.Slices) > 0) })
		case slave.Site != j.Site:
			e.try(func(e *balance.Edit) error { return e.Place(j.Name, j.Site) })
		}
	}
	m.joined = nil
}
