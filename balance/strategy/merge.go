package strategy

// merge joins cool neighbours (thesis 4.5.1, step 2): those that together have
// less than the mean slice, while the node that gives one away has more than
// MergeAbove slices and the one that takes it stays within the goal (the paper
// has it stay below the hottest, which then gives it away again). Two on
// one node merge at once; else the smaller one begins to move to the other's
// node, and they merge in a later iteration.
func (i *iteration) merge() {
	var items, weight float64 // moved for merges
	for k := 1; k < len(i.parts); k++ {
		a, b := &i.parts[k-1], &i.parts[k]
		if a.busy || b.busy || a.Load+b.Load >= i.meanSlice() {
			continue
		}
		if a.at == b.at {
			i.mergeHere(a, b)
			continue
		}
		if a.merged { // the mapper may let it go with other keys than before
			continue
		}
		from, to := a, b
		if a.Weight > b.Weight || a.Weight == b.Weight && a.Load >= b.Load {
			from, to = b, a
		}
		taker := &i.nodes[to.at]
		switch ok, _ := i.may(from.ID, to.at); {
		case !ok, i.nodes[from.at].slices <= i.MergeAbove,
			(taker.load+from.Load)/taker.share > i.goal, !taker.room(from.Weight),
			items+float64(from.Items) > i.MergeShare*float64(i.items),
			weight+float64(from.Weight) > i.MergeShare*float64(i.weight), !i.affords(from.Items, from.Weight):
			continue
		}
		items += float64(from.Items)
		weight += float64(from.Weight)
		i.start(from.ID, to.at, "slice %d is cool and goes to its neighbour %d on node %s, to be merged: together they have %.2f x the mean slice, and node %s has %d slices",
			from.ID, to.ID, taker.name, (a.Load+b.Load)/i.meanSlice(), i.nodes[from.at].name, i.nodes[from.at].slices)
		i.nodes[from.at].slices--
		i.shift(from.at, to.at, from.Items, from.Weight, from.Load)
		a.busy, b.busy = true, true
	}
}

// mergeHere merges two neighbours on one node. The right one represents both
// from then on, so that it may be merged with the next.
func (i *iteration) mergeHere(a, b *part) {
	n := &i.nodes[a.at]
	if n.slices <= i.MergeAbove {
		return
	}
	if !i.board.merge(a.ID, b.ID, "slices %d and %d on node %s are cool: together %.2f x the mean slice, and the node has %d slices",
		a.ID, b.ID, n.name, (a.Load+b.Load)/i.meanSlice(), n.slices) {
		return
	}
	n.slices--
	i.count = max(i.count-1, i.MergeAbove*i.active)
	b.ID, b.Lo = a.ID, a.Lo
	b.Items += a.Items
	b.Weight += a.Weight
	b.Load += a.Load
	a.gone, b.merged = true, true
}
