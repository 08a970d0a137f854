package node

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
)

// maxReasons bounds Iteration.Reasons.
const maxReasons = 200

// BalanceStatus implements admin.Control.
func (c control) BalanceStatus(context.Context) (*api.BalanceStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, m := c.mapper.Status(c.now()), c.survey()
	s := &api.BalanceStatus{
		Epoch: st.Epoch, View: st.View, PublishedView: st.Published, Clock: st.Clock, Items: uint64(c.mapper.Items().Len()),
		Strategy: st.Strategy, Options: c.options(), Paused: st.Paused, Waiting: st.Waiting, Measured: st.Measured,
		MaxOverMean: st.Even.Ratio(), LowerBound: max(1, st.Bound.MaxOverMean), BoundWhy: st.Bound.Why,
		LeastMove:     api.LeastMove{Weight: st.LeastMove, Share: st.LeastShare},
		Moved:         api.Moved{Moves: st.Moved.Moves, Cancelled: st.Moved.Cancelled, Items: st.Moved.Items, Bytes: st.Moved.Bytes},
		MovesInFlight: []api.SliceMove{}, Slaves: []api.SlaveLoad{}, Last: iteration(st, c.now()), Shadows: predictions(st.Shadows),
		Events: c.events(), Distributors: c.distributors(), Masters: []api.MasterInfo{}, IgnoredLoads: st.IgnoredLoads,
	}
	for _, v := range st.Masters {
		s.Masters = append(s.Masters, api.MasterInfo{Name: v.Name, View: v.View, SeenMs: v.SilentFor.Milliseconds()})
	}
	if s.IgnoredLoads == nil {
		s.IgnoredLoads = map[string]uint64{}
	}
	if m == nil {
		return s, nil
	}
	s.Slices = len(m.sums)
	for _, f := range st.InFlight {
		s.MovesInFlight = append(s.MovesInFlight, m.flight(f))
	}
	for _, n := range st.Nodes {
		s.Slaves = append(s.Slaves, m.slave(n, st.Even.Mean))
	}
	slices.SortFunc(s.Slaves, func(a, b api.SlaveLoad) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// slave is a node's load, with what it has as of the survey.
func (m *measured) slave(n balance.NodeStatus, mean float64) api.SlaveLoad {
	out := api.SlaveLoad{Name: n.Name, State: stateOf(n.State), Alive: n.Alive, Load: max(0, n.Load), OverMean: 1}
	node, ok := m.in.Model.Named(n.Name)
	if !ok {
		return out // it joined after the survey
	}
	if mean > 0 {
		out.OverMean = out.Load / m.share(node.ID) / mean
	}
	sum := m.nodes[node.ID]
	out.Slices, out.Items, out.Weight = sum.slices, uint64(sum.items), sum.weight
	return out
}

// flight is a slice on its way, with what lies in it as of the survey.
func (m *measured) flight(f balance.Flight) api.SliceMove {
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
	if i, ok := m.slice(f.Slice); ok {
		out.Items, out.Weight = uint64(m.sums[i].Items), m.sums[i].Weight
	}
	return out
}

// iteration is what the strategy last said; nil: nothing yet.
func iteration(st balance.Status, now time.Duration) *api.Iteration {
	if st.Last.Strategy == "" {
		return nil
	}
	out := &api.Iteration{
		AgeMs: max(0, (now - st.Last.At).Milliseconds()), Operations: len(st.Last.Proposal.Ops) + st.Last.Evacuated,
		Refused: st.Last.Refused, Reasons: []string{},
	}
	list := st.Last.Proposal.Reasons
	for _, r := range list[:min(maxReasons, len(list))] {
		out.Reasons = append(out.Reasons, reasonText(st.Last.Proposal, r))
	}
	return out
}

// reasonText writes a reason with the operation that it is for.
func reasonText(p balance.Proposal, r balance.Reason) string {
	switch {
	case r.Op >= 0 && r.Op < len(p.Ops):
		return p.Ops[r.Op].String() + ": " + r.Text
	case r.Slice != 0:
		return "slice " + number(r.Slice) + " is left: " + r.Text
	}
	return r.Text
}

func predictions(list []balance.Shadow) []api.Prediction {
	out := []api.Prediction{}
	for _, s := range list {
		out = append(out, api.Prediction{
			Strategy: s.Strategy, MaxOverMean: s.MaxOverMean, Moves: s.Moves, Items: uint64(s.Items), Weight: s.Weight, Share: s.Share, Failed: s.Refused,
		})
	}
	return out
}

// options are those set of the strategy in use. The caller holds b.mu.
func (c control) options() map[string]string {
	set := c.cfg.StrategyOptions
	if c.steering.told {
		set = c.steering.options
	}
	out := maps.Clone(set)
	if out == nil {
		out = map[string]string{}
	}
	return out
}

// events are those of late, the newest first. The caller holds b.mu.
func (c control) events() []api.Event {
	out := []api.Event{}
	for _, e := range slices.Backward(c.steering.events) {
		text := e.Text
		if e.Node != "" {
			text = e.Node + ": " + text
		}
		out = append(out, api.Event{AgeMs: time.Since(e.at).Milliseconds(), Slice: e.Slice, Text: text})
	}
	return out
}

// distributors are those known, by name. The caller holds b.mu.
func (c control) distributors() []api.DistributorInfo {
	out := []api.DistributorInfo{}
	slaves := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.slaves)) {
		if address, err := c.suppliers.of(name, time.Now()); err == nil {
			slaves[address] = append(slaves[address], name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.suppliers)) {
		d := c.suppliers[name]
		v := api.DistributorInfo{Name: name, Address: d.address, Alive: time.Since(d.seen) < aliveTime, Clock: d.clock, Slaves: []string{}}
		if v.Alive {
			v.Slaves = append(v.Slaves, slaves[d.address]...)
		}
		out = append(out, v)
	}
	return out
}
