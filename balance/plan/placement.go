package plan

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Placement says how much of its shard's load a slice has, and where it may move.
type Placement struct {
	Items  int
	Weight uint64
	// Load is the load per second, or the weight if no load is Measured. OfShard is its
	// share of the shard's.
	Measured bool
	Load     float64
	OfShard  float64
	// ShardOverMean is the load of the slice's shard divided by the mean. MaxOverMean
	// is the greatest such ratio of all shards.
	ShardOverMean, MaxOverMean float64
	// Bound is the bound for all shards. Hot is the slice's item with the most load, or
	// 0 if there is none. HotOverMean is the load of that item divided by the mean of a
	// shard.
	Bound       load.Bound
	Hot         balance.Key
	HotOverMean float64
	// Helpless is set if no move can relieve the shard: the slice has a single hot item
	// with more load than the mean of a shard.
	Helpless string
	// Rests lists the shards to which the slice must not move for now, and until when.
	Rests []string
}

// Placement returns how much of its shard's load a slice has now.
func (p *Planner) Placement(now time.Duration, s balance.Slice) Placement {
	j := p.judgeNow(now)
	sum := j.sums[j.at[s.ID]]
	out := Placement{
		Items: sum.Items, Weight: sum.Weight, Measured: j.in.Measured(), Load: sum.Load, Bound: p.bound, Rests: j.excluded(s),
	}
	if out.Bound.MaxOverMean == 0 {
		out.Bound = load.LowerBound(j.in)
	}
	out.weigh(j, s)
	return out
}

// General returns what the strategy last said about the cluster as a whole.
func (p *Planner) General() (list []string) {
	for _, r := range p.last.Proposal.Reasons {
		if r.Op < 0 && r.Slice == 0 {
			list = append(list, r.Text)
		}
	}
	return list
}

// weigh compares a slice with its shard, and the shard with the mean.
func (out *Placement) weigh(j *judge, s balance.Slice) {
	loads := load.OfShards(j.in)
	even := load.EvennessOf(j.in.Model, loads, j.in.Limits)
	out.MaxOverMean = even.Ratio()
	share := j.in.Limits[s.Shard].Strength()
	if l := loads[s.Shard]; l > 0 {
		out.OfShard = out.Load / l
	}
	if even.Mean == 0 {
		return
	}
	out.ShardOverMean = loads[s.Shard] / share / even.Mean
	most := 0.0
	for _, v := range load.OfItems(j.in, s, nil) {
		if (v.Hot || !out.Measured || out.Items == 1) && v.Load > most {
			most, out.Hot = v.Load, v.Key
		}
	}
	if out.HotOverMean = most / share / even.Mean; out.HotOverMean > 1 {
		out.Helpless = fmt.Sprintf(
			"not movable: ad group %d alone is %.3g x the mean of a shard, and an ad group cannot be divided", j.in.Order.Item(out.Hot), out.HotOverMean)
	}
}

// excluded lists the shards to which a slice must not move for now, with the reasons.
func (j *judge) excluded(s balance.Slice) (out []string) {
	for _, sh := range j.in.Model.Shards() {
		if sh.ID == s.Shard {
			continue
		}
		if why := j.rests(s, sh.ID); why != "" {
			out = append(out, "to "+sh.Name+": "+why)
		}
	}
	return out
}
