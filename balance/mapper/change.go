package mapper

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// change stages the next change of the model, if one is due. One quantum has all that
// moves, shards and commands require. If they require nothing, it is an iteration of
// the strategy, or the evacuation of shards that drain or are lost.
func (m *Mapper) change(now time.Duration) error {
	if m.Cluster.Model == nil {
		if len(m.joining.list) < max(1, m.Config.Slaves) {
			return nil
		}
		model, err := m.plan.First(now, m.joining.list, m.members.Replicas())
		if err == nil {
			m.joining.list = nil
			m.stage(cluster.Change{Model: model})
		}
		return err
	}
	e, why := &cluster.Edit{Cluster: m.Cluster, Journal: m.Journal}, make(cluster.Causes)
	m.joining.admit(e)
	m.orders.obey(now, e, why)
	m.moves.AddDue(now, e, m.views)
	for _, slave := range m.moves.TakeLeft() {
		m.members.KeepHeld(slave)
	}
	if e.Idle() {
		m.members.Arrange(now, e)
	}
	if m.filling && !m.Cluster.Model.Filled() {
		if m.filling = false; m.FirstFilled() {
			e.Try((*balance.Edit).Filled)
		}
	}
	if e.Begun != nil && len(e.Begun.Ops()) > 0 {
		model, err := e.Begun.Model()
		if err != nil {
			return err
		}
		m.stage(cluster.Change{Model: model, Ops: e.Begun.Ops(), Why: why})
		return nil
	}
	if m.members.Unsaved() || m.plan.Unsaved() {
		m.stage(cluster.Change{Model: m.Cluster.Model, Ops: []balance.Op{}, Why: why})
		return nil
	}
	if d := m.plan.Due(now); d != nil {
		m.stage(*d)
	}
	return nil
}

// note records in the journal a change of a slice, a shard or a slave that is not a
// move.
func (m *Mapper) note(now time.Duration, o balance.Op, why cluster.Causes) {
	text := ""
	if c := why.Of(o); c.Text != "" {
		text = ": " + c.Text
	}
	switch o.Kind {
	case balance.OpSplit:
		m.MoveStep(now, o.Slice, "was split, and its upper part is slice %d%s", o.New, text)
		m.Memory.Add(now, o.New, fmt.Sprintf("was split from slice %d%s", o.Slice, text))
	case balance.OpMerge:
		m.MoveStep(now, o.Slice, "took in its neighbour, slice %d%s", o.New, text)
		m.Memory.Add(now, o.New, fmt.Sprintf("was merged into slice %d%s", o.Slice, text))
	case balance.OpEnlist, balance.OpPlace, balance.OpAssign, balance.OpEnter, balance.OpLeave, balance.OpRelease, balance.OpFree, balance.OpRetire, balance.OpForget:
		m.Event(cluster.Event{Name: o.Name, Text: o.String()})
	case balance.OpJoin, balance.OpForm, balance.OpState:
		m.Event(cluster.Event{Name: m.Name(o.Shard), Text: o.String()})
	case balance.OpRemove:
		m.Event(cluster.Event{Name: o.Name, Text: o.String()})
		m.plan.Removed(o.Shard)
		m.Loads.Forget(o.Shard)
	case balance.OpFilled:
		m.Event(cluster.Event{Text: o.String()})
	}
	if o.Kind == balance.OpState {
		m.plan.StateChanged(now, o.Shard, o.State)
	}
}
