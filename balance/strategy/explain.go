package strategy

import (
	"cmp"
	"fmt"
	"slices"
)

// How many nodes above the goal, and slices of each, explain covers.
const (
	explainNodes  = 3
	explainSlices = 5
)

// text explains why a chunk moves.
func (i *iteration) text(p *chunk, a, b *place, was, wasTo float64) string {
	text := fmt.Sprintf("%.3f x the mean load of a node (%d items, %.3f %% of all weight), goes from node %s to node %s: from %.2f and %.2f x the mean they come to %.2f and %.2f",
		i.x(p.Load), p.Items, 100*i.cost(0, p.Weight), a.name, b.name, was, wasTo, i.x(a.hot()), i.x(b.hot()))
	if a.share != b.share {
		text += fmt.Sprintf("; their shares, which grow with their replicas, are %g and %g", a.share, b.share)
	}
	return text
}

// explain adds, for the hottest slices of the nodes that stay above the goal, why
// they did not move and were not split.
func (i *iteration) explain() {
	var nodes []int
	for k := range i.nodes {
		if i.nodes[k].hot() > i.goal {
			nodes = append(nodes, k)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(i.nodes[b].hot(), i.nodes[a].hot()) })
	nodes = nodes[:min(len(nodes), explainNodes)]
	for _, node := range nodes {
		why := i.why[node]
		if why == "" {
			why = fmt.Sprintf("only the %d hottest nodes give slices away in an iteration", i.Hottest)
		}
		i.leave(0, "node %s stays at %.2f x the mean: %s", i.nodes[node].name, i.x(i.nodes[node].hot()), why)
		i.explainNode(node, why)
	}
}

func (i *iteration) explainNode(node int, why string) {
	var hot []*part
	for _, k := range i.on[node] {
		if p := &i.parts[k]; !p.gone && !p.busy && p.Load >= i.Gain*i.mean {
			hot = append(hot, p)
		}
	}
	slices.SortStableFunc(hot, func(a, b *part) int { return cmp.Compare(b.Load, a.Load) })
	for _, p := range hot[:min(len(hot), explainSlices)] {
		i.leave(p.ID, "slice %d of node %s (%.3f x the mean load of a node, %d items) stays: %s; %s",
			p.ID, i.nodes[node].name, i.x(p.Load), p.Items, i.notMoved(p, node, why), i.notSplit(p, node))
	}
}

// notMoved returns why a slice of a node that is too hot stays there.
func (i *iteration) notMoved(p *part, node int, why string) string {
	cool := i.coolest(node)
	if len(cool) == 0 {
		return "there is no other active node"
	}
	if p.Items == 1 && !slices.ContainsFunc(cool, func(k int) bool { return p.Load <= i.goal*i.nodes[k].share }) {
		return fmt.Sprintf("it is a single item of %.2f x the mean, and an item cannot be divided", i.x(p.Load))
	}
	whole, refusal := chunk{SliceSum: p.SliceSum}, "no node has room for its weight"
	to := i.target(&whole, cool)
	for to >= 0 {
		ok, said := i.may(p.ID, to)
		if ok {
			break
		}
		refusal, whole.refused = said, append(whole.refused, to)
		to = i.target(&whole, cool)
	}
	switch {
	case to < 0:
		return "it may not go to another node: " + refusal
	case i.gain(node, to, p.Load) < i.Gain*i.mean:
		after := (i.nodes[to].load + p.Load) / i.nodes[to].share
		return fmt.Sprintf("as a whole it would gain nothing on node %s, which it would bring from %.2f to %.2f x the mean",
			i.nodes[to].name, i.x(i.nodes[to].hot()), i.x(after))
	case !i.affords(p.Items, p.Weight):
		return "the iteration's budget is used up"
	}
	return why
}

// notSplit returns why a slice of a node that is too hot is not split.
func (i *iteration) notSplit(p *part, node int) string {
	switch n := i.nodes[node]; {
	case p.split:
		return "it is split, so that parts of it can move"
	case p.Items < 2:
		return "it is not split: it has only one item"
	case n.slices >= i.SplitBelow:
		return fmt.Sprintf("it is not split: the node has %d slices, %d or more", n.slices, i.SplitBelow)
	case i.Grain > 0:
		return "it is not split: nothing to cut out of it gains more"
	case p.Load < i.SplitAt*i.meanSlice():
		return fmt.Sprintf("it is not split: it has %.2f x the mean slice, not %.3g", p.Load/i.meanSlice(), i.SplitAt)
	}
	return "it is split in a later iteration"
}
