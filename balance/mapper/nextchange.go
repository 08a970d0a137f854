package mapper

import (
	"fmt"
	"time"

	"adshard/balance"
)

// change stages the next change of the model, if one is due: all that moves,
// nodes and commands require, in one quantum; otherwise an iteration, or the
// evacuation of nodes that drain or are lost.
func (m *Mapper) change(now time.Duration) error {
	if m.cluster.model == nil {
		if len(m.joined) < max(1, m.cfg.Nodes) {
			return nil
		}
		model, err := m.plan.first(now, m.joined, m.members.wanted())
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
	for _, slave := range m.moves.takeLeft() {
		m.members.keep(slave)
	}
	if e.idle() {
		m.members.arrange(now, e)
	}
	if m.filling && !m.cluster.model.Filled() {
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
	if m.members.unsaved() || m.plan.unsaved() {
		m.stage(modelChange{m.cluster.model, []balance.Op{}, why})
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
		slave, ok := m.cluster.model.Slave(j.Name)
		_, taken := m.cluster.model.Named(j.Name)
		switch {
		case !ok && m.members.wanted() == 1 && !taken:
			e.try(func(e *balance.Edit) error { _, err := e.Join(j.Name, j.Site); return err })
		case !ok:
			e.try(func(e *balance.Edit) error { return e.Enlist(j.Name, j.Site, len(j.Table.Slices) > 0) })
		case slave.Site != j.Site:
			e.try(func(e *balance.Edit) error { return e.Place(j.Name, j.Site) })
		}
	}
	m.joined = nil
}

// note records other changes of slices and nodes.
func (m *Mapper) note(now time.Duration, o balance.Op, why causes) {
	text := ""
	if c := why.of(o); c.text != "" {
		text = ": " + c.text
	}
	switch o.Kind {
	case balance.OpSplit:
		m.tell(now, o.Slice, "was split at %x, slice %d begins there%s", uint64(o.At), o.New, text)
		m.memory.add(now, o.New, fmt.Sprintf("was split from slice %d%s", o.Slice, text))
	case balance.OpMerge:
		m.tell(now, o.Slice, "took in its neighbour, slice %d%s", o.New, text)
		m.memory.add(now, o.New, fmt.Sprintf("was merged into slice %d%s", o.Slice, text))
	case balance.OpEnlist, balance.OpPlace, balance.OpAssign, balance.OpEnter, balance.OpLeave, balance.OpRelease, balance.OpFree, balance.OpRetire, balance.OpForget:
		m.event(Event{Node: o.Name, Text: o.String()})
	case balance.OpJoin, balance.OpForm, balance.OpState:
		m.event(Event{Node: m.name(o.Node), Text: o.String()})
	case balance.OpRemove:
		m.event(Event{Node: o.Name, Text: o.String()})
		m.plan.removed(o.Node)
		m.loads.Forget(o.Node)
	case balance.OpFilled:
		m.event(Event{Text: o.String()})
	}
	if o.Kind == balance.OpState {
		m.plan.stateChanged(now, o.Node, o.State)
	}
}
