package survey

import (
	"time"

	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/balance/transfer"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/slicemap"
)

// maxReasons bounds Iteration.Reasons.
const maxReasons = 200

// Slave describes what a shard has and does, as of the survey.
func (m *Survey) Slave(n mapper.ShardStatus, serve map[balance.ShardID]slicemap.Served) api.SlaveLoad {
	out := api.SlaveLoad{Name: n.Name, State: State(n.State), Alive: n.Alive, Replicas: []string{}}
	shard, ok := m.In.Model.Named(n.Name)
	if !ok {
		return out // it joined after the survey
	}
	for _, s := range m.In.Model.Set(shard.ID) {
		out.Replicas = append(out.Replicas, s.Name)
	}
	sum := m.shards[shard.ID]
	out.Load, out.OverMean = m.Loads[shard.ID], m.OverMean(shard.ID, m.Loads[shard.ID])
	out.Slices, out.Items, out.Weight = serve[shard.ID].Slices, uint64(sum.Items), sum.Weight
	return out
}

// Flight describes a slice that is being moved, with its contents as of the survey.
func (m *Survey) Flight(f transfer.Flight) api.SliceMove {
	out := api.SliceMove{
		Slice: f.Slice, From: f.From, To: f.To, Phase: api.MovePhaseCopying, AgeMs: f.For.Milliseconds(), Certified: f.Matched,
		Cause: f.Cause, WaitsFor: f.WaitsFor,
	}
	switch {
	case f.Phase == balance.Switched:
		out.Phase, out.Certified = api.MovePhaseSwitched, balance.Bins
	case f.Matched == balance.Bins:
		out.Phase = api.MovePhaseCertified
	}
	if i, ok := m.Slice(f.Slice); ok {
		out.Items, out.Weight = uint64(m.Sums[i].Items), m.Sums[i].Weight
	}
	return out
}

// Iteration describes the last iteration of the strategy, or returns nil if there was none yet.
func (m *Survey) Iteration(st mapper.Status, now time.Duration) *api.Iteration {
	if st.Last.Strategy == "" {
		return nil
	}
	out := &api.Iteration{
		AgeMs: max(0, (now - st.Last.At).Milliseconds()), Operations: len(st.Last.Proposal.Ops) + st.Last.Evacuated,
		Refused: st.Last.Refused, Reasons: []string{},
	}
	list := st.Last.Proposal.Reasons
	for _, r := range list[:min(maxReasons, len(list))] {
		out.Reasons = append(out.Reasons, m.reason(st.Last.Proposal, r))
	}
	return out
}

// reason writes a reason with the operation that it explains.
func (m *Survey) reason(p balance.Proposal, r balance.Reason) string {
	switch {
	case r.Op >= 0 && r.Op < len(p.Ops):
		return m.describe(p.Ops[r.Op]) + ": " + r.Text
	case r.Slice != 0:
		return "slice " + number(r.Slice) + " is left: " + r.Text
	}
	return r.Text
}

// describe says what an operation of a strategy does.
func (m *Survey) describe(o balance.Op) string {
	switch o.Kind {
	case balance.OpMap, balance.OpStart:
		return "slice " + number(o.Slice) + " goes to " + m.Name(o.Shard)
	case balance.OpSplit:
		return "slice " + number(o.Slice) + " is split at " + keyText(o.At) + ", slice " + number(o.New) + " begins there"
	case balance.OpMerge:
		return "slice " + number(o.New) + " is merged into slice " + number(o.Slice)
	}
	return o.String()
}

// State returns the admin port's name of a shard's state.
func State(s balance.ShardState) api.SlaveState {
	switch s {
	case balance.Draining, balance.Dissolving:
		return api.SlaveStateDraining
	case balance.Drained:
		return api.SlaveStateDrained
	}
	return api.SlaveStateActive
}
