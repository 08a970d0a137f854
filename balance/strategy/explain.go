package strategy

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/balance/strategy/draft"
)

// explainShards is the number of shards above the goal that explain covers, and
// explainSlices the number of slices of each.
const (
	explainShards = 3
	explainSlices = 5
)

// text explains why a chunk moves.
func (i *iteration) text(p *chunk, a, b *draft.Shard, was, wasTo float64) string {
	text := fmt.Sprintf("%.3f x the mean load of a shard (%d ad groups, %.3f %% of all weight), goes from shard %s to shard %s: from %.2f and %.2f x the mean they come to %.2f and %.2f",
		i.OfMean(p.Load), p.Items, 100*i.Cost(0, p.Weight), a.Name, b.Name, was, wasTo, i.OfMean(a.Heat()), i.OfMean(b.Heat()))
	if a.Share != b.Share {
		text += fmt.Sprintf("; their shares, which grow with their replicas, are %g and %g", a.Share, b.Share)
	}
	return text
}

// explain adds reasons for the hottest slices of the shards that stay above the goal:
// why they did not move and were not split.
func (i *iteration) explain() {
	var shards []int
	for k := range i.Shards {
		if i.Shards[k].Heat() > i.goal {
			shards = append(shards, k)
		}
	}
	slices.SortStableFunc(shards, func(a, b int) int { return cmp.Compare(i.Shards[b].Heat(), i.Shards[a].Heat()) })
	shards = shards[:min(len(shards), explainShards)]
	for _, shard := range shards {
		why := i.why[shard]
		if why == "" {
			why = fmt.Sprintf("only the %d hottest shards give slices away in an iteration", i.Hottest)
		}
		i.Leave(0, "shard %s stays at %.2f x the mean: %s", i.Shards[shard].Name, i.OfMean(i.Shards[shard].Heat()), why)
		i.explainShard(shard, why)
	}
}

func (i *iteration) explainShard(shard int, why string) {
	var hot []*draft.Part
	for _, k := range i.on[shard] {
		if p := &i.Parts[k]; !p.Gone && !p.Busy && p.Load >= i.Gain*i.Mean {
			hot = append(hot, p)
		}
	}
	slices.SortStableFunc(hot, func(a, b *draft.Part) int { return cmp.Compare(b.Load, a.Load) })
	for _, p := range hot[:min(len(hot), explainSlices)] {
		i.Leave(p.ID, "slice %d of shard %s (%.3f x the mean load of a shard, %d ad groups) stays: %s; %s",
			p.ID, i.Shards[shard].Name, i.OfMean(p.Load), p.Items, i.notMoved(p, shard, why), i.notSplit(p, shard))
	}
}

// notMoved returns why a slice of a shard that is too hot stays there.
func (i *iteration) notMoved(p *draft.Part, shard int, why string) string {
	cool := i.coolest(shard)
	if len(cool) == 0 {
		return "there is no other active shard"
	}
	if p.Items == 1 && !slices.ContainsFunc(cool, func(k int) bool { return p.Load <= i.goal*i.Shards[k].Share }) {
		return fmt.Sprintf("it is a single item of %.2f x the mean, and an item cannot be divided", i.OfMean(p.Load))
	}
	whole, refusal := chunk{SliceSum: p.SliceSum}, "no shard has room for its weight"
	to := i.target(&whole, cool)
	for to >= 0 {
		ok, said := i.May(p.ID, to)
		if ok {
			break
		}
		refusal, whole.refused = said, append(whole.refused, to)
		to = i.target(&whole, cool)
	}
	switch {
	case to < 0:
		return "it may not go to another shard: " + refusal
	case i.gain(shard, to, p.Load) < i.Gain*i.Mean:
		after := (i.Shards[to].Load + p.Load) / i.Shards[to].Share
		return fmt.Sprintf("as a whole it would gain nothing on shard %s, which it would bring from %.2f to %.2f x the mean",
			i.Shards[to].Name, i.OfMean(i.Shards[to].Heat()), i.OfMean(after))
	case !i.Affords(p.Items, p.Weight):
		return "the iteration's budget is used up"
	}
	return why
}

// notSplit returns why a slice of a shard that is too hot is not split.
func (i *iteration) notSplit(p *draft.Part, shard int) string {
	switch n := i.Shards[shard]; {
	case p.Cut:
		return "it is split, so that parts of it can move"
	case p.Items < 2:
		return "it is not split: it has only one item"
	case n.Slices >= i.SplitBelow:
		return fmt.Sprintf("it is not split: the shard has %d slices, %d or more", n.Slices, i.SplitBelow)
	case i.Grain > 0:
		return "it is not split: nothing to cut out of it gains more"
	case p.Load < i.SplitAt*i.meanSlice():
		return fmt.Sprintf("it is not split: it has %.2f x the mean slice, not %.3g", p.Load/i.meanSlice(), i.SplitAt)
	}
	return "it is split in a later iteration"
}
