package strategy

import "adshard/balance/strategy/draft"

// merge joins cool neighbours (thesis 4.5.1, step 2). Together they must have less load
// than the mean slice. The shard that gives one away must have more than MergeAbove
// slices, and the shard that takes it must stay within the goal (in the paper it must
// stay below the hottest shard, which then gives the slice away again). Two neighbours
// on the same shard merge at once. Otherwise the smaller one begins to move to the
// other's shard, and they merge in a later iteration.
func (i *iteration) merge() {
	var items, weight float64 // moved for merges
	for k := 1; k < len(i.Parts); k++ {
		a, b := &i.Parts[k-1], &i.Parts[k]
		if a.Busy || b.Busy || a.Load+b.Load >= i.meanSlice() {
			continue
		}
		if a.At == b.At {
			i.mergeHere(a, b)
			continue
		}
		if a.Merged { // by then, the mapper may have it with different keys than before
			continue
		}
		from, to := a, b
		if a.Weight > b.Weight || a.Weight == b.Weight && a.Load >= b.Load {
			from, to = b, a
		}
		taker := &i.Shards[to.At]
		switch ok, _ := i.May(from.ID, to.At); {
		case !ok, i.Shards[from.At].Slices <= i.MergeAbove,
			(taker.Load+from.Load)/taker.Share > i.goal, !taker.Room(from.Weight),
			items+float64(from.Items) > i.MergeShare*float64(i.Items),
			weight+float64(from.Weight) > i.MergeShare*float64(i.Weight), !i.Affords(from.Items, from.Weight):
			continue
		}
		items += float64(from.Items)
		weight += float64(from.Weight)
		i.Start(from.ID, to.At, "slice %d is cool and goes to its neighbour %d on shard %s, to be merged: together they have %.2f x the mean slice, and shard %s has %d slices",
			from.ID, to.ID, taker.Name, (a.Load+b.Load)/i.meanSlice(), i.Shards[from.At].Name, i.Shards[from.At].Slices)
		i.Shards[from.At].Slices--
		i.Shift(from.At, to.At, from.Items, from.Weight, from.Load)
		a.Busy, b.Busy = true, true
	}
}

// mergeHere merges two neighbours on the same shard. From then on the right one stands
// for both, so that it may be merged with the next slice.
func (i *iteration) mergeHere(a, b *draft.Part) {
	n := &i.Shards[a.At]
	if n.Slices <= i.MergeAbove {
		return
	}
	if !i.Draft.Merge(a.ID, b.ID, "slices %d and %d on shard %s are cool: together %.2f x the mean slice, and the shard has %d slices",
		a.ID, b.ID, n.Name, (a.Load+b.Load)/i.meanSlice(), n.Slices) {
		return
	}
	n.Slices--
	i.count = max(i.count-1, i.MergeAbove*i.Active)
	b.ID, b.Lo = a.ID, a.Lo
	b.Items += a.Items
	b.Weight += a.Weight
	b.Load += a.Load
	a.Gone, b.Merged = true, true
}
