package balancer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/slicemap"
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
		Strategy: st.Strategy, Options: c.options(), Paused: st.Paused, Waiting: st.Waiting, MaxOverMean: 1, LowerBound: 1,
		Moved:         api.Moved{Moves: st.Moved.Moves, Cancelled: st.Moved.Cancelled, Items: st.Moved.Items, Bytes: st.Moved.Bytes},
		MovesInFlight: []api.SliceMove{}, Slaves: []api.SlaveLoad{}, Shadows: predictions(st.Shadows),
		Events: c.events(), Distributors: c.listDistributors(), Masters: []api.MasterInfo{}, IgnoredLoads: st.IgnoredLoads,
	}
	for _, v := range st.Masters {
		s.Masters = append(s.Masters, api.MasterInfo{Name: v.Name, View: v.View, SeenMs: v.SilentFor.Milliseconds()})
	}
	s.Scrub = scrubStatus(st.Scrub)
	if s.IgnoredLoads == nil {
		s.IgnoredLoads = map[string]uint64{}
	}
	if m == nil {
		return s, nil
	}
	s.Slices, s.Measured, s.Last = len(m.sums), m.byLoad(), m.iteration(st, c.now())
	s.MaxOverMean, s.LowerBound, s.BoundWhy = m.even.Ratio(), m.bound.MaxOverMean, m.bound.Why
	s.Idle = m.in.NoQueries
	s.LeastMove = api.LeastMove{Weight: m.leastWeight, Share: m.leastShare}
	for _, f := range st.InFlight {
		s.MovesInFlight = append(s.MovesInFlight, m.flight(f))
	}
	serve := slicemap.ByNode(c.mapper.Model())
	for _, n := range st.Nodes {
		s.Slaves = append(s.Slaves, m.slave(n, serve))
	}
	slices.SortFunc(s.Slaves, func(a, b api.SlaveLoad) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// scrubStatus returns the state of scrubbing.
func scrubStatus(s balance.Scrub) api.Scrub {
	out := api.Scrub{
		IntervalMs: s.Interval.Milliseconds(), Running: s.Running, Progress: s.Progress, Passes: s.Passes,
		Differences: s.Differences, Unlike: s.Unlike, Condemned: []api.Condemned{},
		Last: api.ScrubPass{
			AgeMs: s.LastAgo.Milliseconds(), TookMs: s.Last.Took.Milliseconds(), SpentMs: s.Last.Spent.Milliseconds(),
			Items: s.Last.Items, Parts: s.Last.Parts, Different: s.Last.Different, Left: s.Last.Left, Unlike: s.Last.Unlike,
		},
	}
	for _, c := range s.Condemned {
		out.Condemned = append(out.Condemned, api.Condemned{Slave: c.Node, Slice: c.Slice, Reason: c.Reason, AgeMs: c.For.Milliseconds()})
	}
	return out
}

// slave says what a node has, and does, as of the survey.
func (m *measured) slave(n balance.NodeStatus, serve map[balance.NodeID]slicemap.Served) api.SlaveLoad {
	out := api.SlaveLoad{Name: n.Name, State: stateOf(n.State), Alive: n.Alive}
	node, ok := m.in.Model.Named(n.Name)
	if !ok {
		return out // it joined after the survey
	}
	sum := m.nodes[node.ID]
	out.Load, out.OverMean = m.loads[node.ID], m.overMean(node.ID, m.loads[node.ID])
	out.Slices, out.Items, out.Weight = serve[node.ID].Slices, uint64(sum.Items), sum.Weight
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
func (m *measured) iteration(st balance.Status, now time.Duration) *api.Iteration {
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

// reason writes a reason with the operation that it is for.
func (m *measured) reason(p balance.Proposal, r balance.Reason) string {
	switch {
	case r.Op >= 0 && r.Op < len(p.Ops):
		return m.does(p.Ops[r.Op]) + ": " + r.Text
	case r.Slice != 0:
		return "slice " + number(r.Slice) + " is left: " + r.Text
	}
	return r.Text
}

// does says what an operation of a strategy does.
func (m *measured) does(o balance.Op) string {
	switch o.Kind {
	case balance.OpMap, balance.OpStart:
		return "slice " + number(o.Slice) + " goes to " + m.name(o.Node)
	case balance.OpSplit:
		return "slice " + number(o.Slice) + " is split at " + keyText(o.At) + ", slice " + number(o.New) + " begins there"
	case balance.OpMerge:
		return "slice " + number(o.New) + " is merged into slice " + number(o.Slice)
	}
	return o.String()
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

// listDistributors returns those known, by name. The caller holds b.mu.
func (c control) listDistributors() []api.DistributorInfo {
	out := []api.DistributorInfo{}
	slaves := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.slaves)) {
		if address, err := c.distributors.of(name, time.Now()); err == nil {
			slaves[address] = append(slaves[address], name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.distributors)) {
		d := c.distributors[name]
		v := api.DistributorInfo{Name: name, Address: d.address, Alive: d.alive(time.Now()), Clock: d.clock, Slaves: []string{}}
		if v.Alive {
			v.Slaves = append(v.Slaves, slaves[d.address]...)
		}
		out = append(out, v)
	}
	return out
}
