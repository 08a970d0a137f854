package main

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/compared"
)

// Coolest moves one slice per iteration from the slave with the most load for its
// share to the slave with the least. It chooses the slice whose move leaves the hotter
// of the two coolest.
type Coolest struct{ compared.ConsistentFixed } // it makes the first plan

// Name implements balance.Strategy.
func (Coolest) Name() string { return "coolest" }

// Iterate implements balance.Strategy.
func (Coolest) Iterate(in balance.Input) (p balance.Proposal, err error) {
	loads := load.OfShards(in)
	heat := func(shard balance.ShardID, more float64) float64 {
		return (loads[shard] + more) / float64(max(1, in.Limits[shard].Share))
	}
	var from, to balance.ShardID // the hottest and the coolest
	for _, sh := range in.Model.Shards() {
		if from == 0 || heat(sh.ID, 0) > heat(from, 0) {
			from = sh.ID
		}
		if sh.State == balance.Active && (to == 0 || heat(sh.ID, 0) < heat(to, 0)) {
			to = sh.ID
		}
	}
	if in.May == nil { // as in studies, where all moves are allowed and end at once
		in.May = func(uint64, balance.ShardID) (bool, string) { return true, "" }
	}
	var best uint64
	moved, least := 0.0, 0.97*heat(from, 0) // a smaller gain is not worth a move
	for i, sum := range load.OfSlices(in) {
		s := in.Model.Slices()[i]
		after := max(heat(from, -sum.Load), heat(to, sum.Load))
		ok, _ := in.May(s.ID, to) // not if it is moving or moved a moment ago, …
		if ok && s.Shard == from && after < least {
			best, moved, least = s.ID, sum.Load, after
		}
	}
	if why := in.Few; best == 0 || why != "" { // Few: there are too few queries to judge by
		why = fmt.Sprintf("no move from the hottest slave to the coolest one would gain 3 %% %s", why)
		p.Reasons = []balance.Reason{{Op: -1, Text: why}}
	} else {
		p.Ops = []balance.Op{{Kind: balance.OpStart, Slice: best, Shard: to}}
		p.Reasons = []balance.Reason{{Op: 0, Text: "it goes from the hottest slave to the coolest one"}}
		loads[from], loads[to] = loads[from]-moved, loads[to]+moved
	}
	p.Expected = load.EvennessOf(in.Model, loads, in.Limits)
	return p, nil
}
