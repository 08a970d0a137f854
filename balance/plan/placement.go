package plan

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Placement is how a slice weighs on its shard, and where it may go.
type Placement struct {
	Items  int
	Weight uint64
	// Load is a second, or, when nothing is Measured, the weight; OfShard is its
	// share of its shard's.
	Measured bool
	Load     float64
	OfShard  float64
	// ShardOverMean is its shard's load over the mean, MaxOverMean the highest of all.
	ShardOverMean, MaxOverMean float64
	// Bound is of the whole; Hot is the slice's item with the most load, 0 when
	// there is none, and HotOverMean its load over the mean of a shard.
	Bound       load.Bound
	Hot         balance.Key
	HotOverMean float64
	// Helpless is set when no move can relieve the slice: its one hot item has more
	// load than the mean of a shard.
	Helpless string
	// Rests lists where it must not go for now, and until when.
	Rests []string
}

// Placement returns how a slice weighs on its shard now.
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

// General returns what the strategy last said about the cluster.
func (p *Planner) General() (list []string) {
	for _, r := range p.last.Proposal.Reasons {
		if r.Op < 0 && r.Slice == 0 {
			list = append(list, r.Text)
		}
	}
	return list
}

// weigh compares a slice with its shard, and with the mean.
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
			"not movable: item %d (key %x) alone is %.3g x the mean of a shard, and an item cannot be divided",
			j.in.Order.Item(out.Hot), uint64(out.Hot), out.HotOverMean)
	}
}

// excluded lists where a slice must not go for now.
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
