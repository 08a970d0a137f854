package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/fault"
)

// evacuation moves slices away from nodes that drain or are lost, independently of how
// often the strategy runs.
func (p *Planner) evacuation(now time.Duration) *cluster.Change {
	p.empty = now + emptyPace
	if len(p.leaving(now)) == 0 {
		return nil // before all items are looked at
	}
	model, ops, why := p.evacuate(p.judgeNow(now))
	if len(ops) == 0 {
		return nil
	}
	p.idle = 0
	return &cluster.Change{Model: model, Ops: ops, Why: why}
}

// evacuate starts to move the slices of draining nodes, and of nodes lost long
// ago, to where the strategy wants them, or else to the least loaded nodes that may
// take them: the most loaded slices first, within the budget. When nothing is moving, one
// slice goes whatever its size, so that a slice larger than the budget does not block the
// rest. If some are left for want of budget, j is crowded.
func (p *Planner) evacuate(j *judge) (*balance.Model, []balance.Op, cluster.Causes) {
	why := make(cluster.Causes)
	from := p.leaving(j.now)
	if len(from) == 0 {
		return p.Model, nil, why
	}
	loads := load.OfNodes(j.in)
	e := p.Model.Edit()
	stays := ""
	heaviest := j.heaviest(from)
	wanted := p.refuges(j, heaviest)
	for i, s := range heaviest {
		sum := j.sums[j.at[s.ID]]
		if j.copiedItems > 0 && !j.fits(sum.Items, sum.Weight) {
			j.crowded = true
			continue
		}
		to, reason := wanted[i], ""
		if to == 0 || j.refuses(s, to, sum.Weight) != "" {
			to, reason = j.refuge(s, sum.Weight, loads)
		}
		if to == 0 {
			stays = fmt.Sprintf("slice %d cannot leave node %s: %s", s.ID, p.Name(s.Node), reason)
			p.Memory.Add(j.now, s.ID, stays)
			continue
		}
		if err := e.Start(s.ID, to); err != nil {
			p.Trouble(err)
			continue
		}
		why.SetMove(s.ID, cluster.Cause{Text: from[s.Node], Away: true})
		loads[to] += sum.Load
		loads[s.Node] -= sum.Load
		j.weights[to] += sum.Weight
		j.copiedItems += sum.Items
		j.copiedWeight += sum.Weight
		j.in.Budget = j.budget()
	}
	if stays != "" {
		p.Trouble(fault.New(fault.Conflict, "balance: evacuate", fmt.Errorf("%s; add a slave, or raise the limits", stays)))
	}
	if len(e.Ops()) == 0 {
		return p.Model, nil, why
	}
	model, err := e.Model()
	if err != nil {
		p.Trouble(err)
		return p.Model, nil, why
	}
	goes := make(map[balance.NodeID]int)
	for _, o := range e.Ops() {
		s, _ := p.Slice(o.Slice)
		goes[s.Node]++
	}
	for _, n := range p.Model.Nodes() {
		if goes[n.ID] > 0 {
			p.Event(cluster.Event{Node: n.Name, Text: cluster.Counted(goes[n.ID], "slice") + " to leave: " + from[n.ID]})
		}
	}
	return model, e.Ops(), why
}

// refuges returns where the strategy wants slices that must leave their nodes; 0: it
// does not say.
func (p *Planner) refuges(j *judge, leaving []balance.Slice) []balance.NodeID {
	if r, ok := p.strategy.(balance.Refuge); ok && len(leaving) > 0 {
		in := j.in
		in.Memory = p.recall[p.strategy.Name()]
		if list := r.Refuges(in, leaving); len(list) == len(leaving) {
			return list
		}
	}
	return make([]balance.NodeID, len(leaving))
}

// leaving returns the nodes whose slices must leave, and why.
func (p *Planner) leaving(now time.Duration) map[balance.NodeID]string {
	out := make(map[balance.NodeID]string)
	for _, n := range p.Model.Nodes() {
		lost := p.Silence(n.ID, now)
		switch {
		case n.State == balance.Draining:
			out[n.ID] = "node " + n.Name + " is being emptied"
		case n.State == balance.Dissolving:
			out[n.ID] = "shard " + n.Name + " ends, so that its slaves become replicas of others"
		case p.Config.EvacuateAfter > 0 && lost >= p.Config.EvacuateAfter && !p.Paused:
			out[n.ID] = fmt.Sprintf("node %s is lost: not heard from for %v", n.Name, lost.Round(time.Second))
		}
	}
	return out
}

// heaviest returns the slices of some nodes that are not moving, the most loaded
// first.
func (j *judge) heaviest(from map[balance.NodeID]string) []balance.Slice {
	var list []balance.Slice
	for _, s := range j.in.Model.Slices() {
		if _, goes := from[s.Node]; goes && s.Move.Phase == balance.NoMove {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b balance.Slice) int {
		return cmp.Compare(j.sums[j.at[b.ID]].Load, j.sums[j.at[a.ID]].Load)
	})
	return list
}

// refuge returns the node that takes a slice which must leave its own, or 0 and
// why there is none.
func (j *judge) refuge(s balance.Slice, weight uint64, loads map[balance.NodeID]float64) (best balance.NodeID, why string) {
	least, light := 0.0, 0.0
	for _, n := range j.in.Model.Nodes() {
		if n.ID == s.Node {
			continue
		}
		if not := j.refuses(s, n.ID, weight); not != "" {
			why = not
			continue
		}
		share := j.in.Limits[n.ID].Strength()
		l, w := loads[n.ID]/share, float64(j.weights[n.ID])/share
		if best == 0 || l < least || l == least && w < light { // slices without load go round
			best, least, light = n.ID, l, w
		}
	}
	if why == "" {
		why = "there is no other node"
	}
	return best, why
}

// Emptied notes which draining nodes have no slices left and will get none.
func (p *Planner) Emptied(now time.Duration) {
	p.drained = nil
	for _, n := range p.Model.Nodes() {
		if n.State != balance.Draining && n.State != balance.Dissolving {
			continue
		}
		used := slices.ContainsFunc(p.Model.Slices(), func(s balance.Slice) bool { return s.Node == n.ID || s.Move.Other == n.ID })
		holds := func(s balance.Slave) bool { return len(p.Slaves[s.Name].Table.Slices) > 0 && p.Alive(s.Name, now) }
		if !used && (n.State == balance.Dissolving || !slices.ContainsFunc(p.Model.Replicas(n.ID), holds)) {
			p.drained = append(p.drained, n.ID)
		}
	}
}
