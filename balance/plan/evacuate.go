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

// evacuation returns a change that moves slices away from shards that drain or are lost, or
// nil if there is none. It does not depend on how often the strategy runs.
func (p *Planner) evacuation(now time.Duration) *cluster.Change {
	p.empty = now + emptyPace
	if len(p.leaving(now)) == 0 {
		return nil // before looking at all items
	}
	model, ops, why := p.evacuate(p.judgeNow(now))
	if len(ops) == 0 {
		return nil
	}
	p.idle = 0
	return &cluster.Change{Model: model, Ops: ops, Why: why}
}

// evacuate starts to move the slices of draining shards, and of shards lost long ago,
// within the budget and the most loaded first. They go where the strategy wants them, or
// else to the least loaded shards that may take them. If nothing is moving, one slice may
// move whatever its size, so that a slice larger than the budget does not block the rest.
// If some slices must wait for the budget, it sets j.crowded.
func (p *Planner) evacuate(j *judge) (*balance.Model, []balance.Op, cluster.Causes) {
	why := make(cluster.Causes)
	from := p.leaving(j.now)
	if len(from) == 0 {
		return p.Model, nil, why
	}
	loads := load.OfShards(j.in)
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
			stays = fmt.Sprintf("slice %d cannot leave shard %s: %s", s.ID, p.Name(s.Shard), reason)
			p.Memory.Add(j.now, s.ID, stays)
			continue
		}
		if err := e.Start(s.ID, to); err != nil {
			p.Trouble(err)
			continue
		}
		why.SetMove(s.ID, cluster.Cause{Text: from[s.Shard], Away: true})
		loads[to] += sum.Load
		loads[s.Shard] -= sum.Load
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
	p.tellLeaving(e.Ops(), from)
	return model, e.Ops(), why
}

// tellLeaving records an event for each shard from which slices start to move, with the
// reason.
func (p *Planner) tellLeaving(ops []balance.Op, from map[balance.ShardID]string) {
	goes := make(map[balance.ShardID]int)
	for _, o := range ops {
		s, _ := p.Slice(o.Slice)
		goes[s.Shard]++
	}
	for _, sh := range p.Model.Shards() {
		if goes[sh.ID] > 0 {
			p.Event(cluster.Event{Name: sh.Name, Text: cluster.Counted(goes[sh.ID], "slice") + " to leave: " + from[sh.ID]})
		}
	}
}

// refuges returns the shards to which the strategy wants to move slices that must leave
// theirs; 0 means that it names none.
func (p *Planner) refuges(j *judge, leaving []balance.Slice) []balance.ShardID {
	if r, ok := p.strategy.(balance.Refuge); ok && len(leaving) > 0 {
		in := j.in
		in.Memory = p.recall[p.strategy.Name()]
		if list := r.Refuges(in, leaving); len(list) == len(leaving) {
			return list
		}
	}
	return make([]balance.ShardID, len(leaving))
}

// leaving returns the shards whose slices must leave, with the reason.
func (p *Planner) leaving(now time.Duration) map[balance.ShardID]string {
	out := make(map[balance.ShardID]string)
	for _, sh := range p.Model.Shards() {
		lost := p.Silence(sh.ID, now)
		switch {
		case sh.State == balance.Draining:
			out[sh.ID] = "shard " + sh.Name + " is being emptied"
		case sh.State == balance.Dissolving:
			out[sh.ID] = "shard " + sh.Name + " ends, so that its slaves become replicas of others"
		case p.Config.EvacuateAfter > 0 && lost >= p.Config.EvacuateAfter && !p.Paused:
			out[sh.ID] = fmt.Sprintf("shard %s is lost: not heard from for %v", sh.Name, lost.Round(time.Second))
		}
	}
	return out
}

// heaviest returns the slices of some shards that are not moving, the most loaded first.
func (j *judge) heaviest(from map[balance.ShardID]string) []balance.Slice {
	var list []balance.Slice
	for _, s := range j.in.Model.Slices() {
		if _, goes := from[s.Shard]; goes && s.Move.Phase == balance.NoMove {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b balance.Slice) int {
		return cmp.Compare(j.sums[j.at[b.ID]].Load, j.sums[j.at[a.ID]].Load)
	})
	return list
}

// refuge returns the shard to which a slice that must leave its shard should go, or 0 and
// why there is none.
func (j *judge) refuge(s balance.Slice, weight uint64, loads map[balance.ShardID]float64) (best balance.ShardID, why string) {
	least, light := 0.0, 0.0
	for _, sh := range j.in.Model.Shards() {
		if sh.ID == s.Shard {
			continue
		}
		if not := j.refuses(s, sh.ID, weight); not != "" {
			why = not
			continue
		}
		share := j.in.Limits[sh.ID].Strength()
		l, w := loads[sh.ID]/share, float64(j.weights[sh.ID])/share
		if best == 0 || l < least || l == least && w < light { // so slices without load are spread by weight
			best, least, light = sh.ID, l, w
		}
	}
	if why == "" {
		why = "there is no other shard"
	}
	return best, why
}

// Emptied notes which draining shards have no slices left and get no more.
func (p *Planner) Emptied(now time.Duration) {
	p.drained = nil
	for _, sh := range p.Model.Shards() {
		if sh.State != balance.Draining && sh.State != balance.Dissolving {
			continue
		}
		used := slices.ContainsFunc(p.Model.Slices(), func(s balance.Slice) bool { return s.Shard == sh.ID || s.Move.Other == sh.ID })
		holds := func(s balance.Slave) bool { return len(p.Slaves[s.Name].Table.Slices) > 0 && p.Alive(s.Name, now) }
		if !used && (sh.State == balance.Dissolving || !slices.ContainsFunc(p.Model.Replicas(sh.ID), holds)) {
			p.drained = append(p.drained, sh.ID)
		}
	}
}
