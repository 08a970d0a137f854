package compared

import (
	"cmp"
	"fmt"
	"slices"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
)

const slicerName = "slicer"

// Slicer is Weighted-Move as published (Adya et al., "Slicer", OSDI 2016; thesis 4.5.1), with its
// constants. Each shard begins with an equal part of the key space. An iteration merges adjacent
// slices that together have less load than the mean slice, moves slices of the hottest shard to
// the coolest one, and splits slices that are twice as hot as the mean. The next move is always
// the one with the largest weight: by how much it lowers max/mean, divided by the number of items
// that it moves. There is no goal and no dead band: moves continue while one of them lowers
// max/mean and fewer than 9 % of all items have moved.
//
// It is simplified. Every slice has one replica (as in thesis 6.5), so replicas are not added or
// removed. The use of processors is not known, so it also balances when less than 25 % of them is
// used.
//
// The sources do not say where a slice is split; here it is split where its load halves. They do
// not say which of two slices goes to the other's shard; here it is the one with fewer items. It
// moves first, and the two merge in a later iteration. The "clean-up" step, which moves slices
// away from shards that are lost or drain, is left to the mapper.
type Slicer struct{}

// The constants of the paper.
const (
	slicerMergeAbove = 50   // a shard that loses a slice to a merge has more slices than this
	slicerMergeShare = 0.01 // share of all items that may move for merges in an iteration
	slicerMoveShare  = 0.09 // share of all items that moves may move in an iteration
	slicerSplitAt    = 2    // times the mean slice
	slicerSplitBelow = 150  // a shard on which a slice is split has fewer slices than this
)

// Name implements balance.Strategy.
func (Slicer) Name() string { return slicerName }

// Initial implements balance.Strategy. Each shard gets a range of keys of equal width.
func (Slicer) Initial(in balance.Input) (balance.Proposal, error) {
	shards := in.Model.Shards()
	list := make([]draft.Piece, len(shards))
	for i, n := range shards {
		list[i] = draft.Piece{Lo: rangeBegin(i, len(shards)), Shard: n.ID, Why: fmt.Sprintf("range %d of %d equal ones", i, len(shards))}
	}
	return draft.Lay(in, list, false)
}

// Iterate implements balance.Strategy.
func (Slicer) Iterate(in balance.Input) (balance.Proposal, error) {
	d := draft.New(in, 1)
	if in.Few != "" {
		d.Leave(0, "rests: %s", in.Few)
		return d.Proposal(), nil
	}
	d.Measured()
	if d.Total == 0 || d.Active == 0 {
		d.Leave(0, "there is nothing to balance")
		return d.Proposal(), nil
	}
	r := slicerRound{Draft: d, mean: d.Total / float64(len(d.Parts))}
	r.merge()
	r.move()
	r.split()
	return d.Proposal(), nil
}

// slicerRound is an iteration of Slicer.
type slicerRound struct {
	*draft.Draft
	mean   float64 // load of a slice
	merged float64 // items that moved to merge
	moved  float64 // items that moved to balance
}

// merge joins cool neighbours on the same shard, or moves the smaller one to the other's shard.
func (r *slicerRound) merge() {
	hottest, _ := r.HottestShard()
	most := r.Shards[hottest].Heat()
	for i := 1; i < len(r.Parts); i++ {
		a, b := &r.Parts[i-1], &r.Parts[i]
		if a.Busy || b.Busy || a.Merged || a.Load+b.Load >= r.mean {
			continue
		}
		from, to := a, b
		if a.Items > b.Items {
			from, to = b, a
		}
		switch loser, taker := &r.Shards[from.At], &r.Shards[to.At]; {
		case loser.Slices <= slicerMergeAbove:
		case a.At == b.At:
			r.join(a, b)
		case (taker.Load+from.Load)/taker.Share > most:
		default:
			r.start(from, to.At, &r.merged, slicerMergeShare, fmt.Sprintf("it and its neighbour %d there are to merge: together they have %.2f x the mean slice",
				to.ID, (a.Load+b.Load)/r.mean))
		}
	}
}

// join merges two neighbours. From then on the right one stands for both.
func (r *slicerRound) join(a, b *draft.Part) {
	if !r.Merge(a.ID, b.ID, "slices %d and %d are cool: together %.2f x the mean slice", a.ID, b.ID, (a.Load+b.Load)/r.mean) {
		return
	}
	r.Shards[b.At].Slices--
	b.ID, b.Lo, b.Merged, a.Gone = a.ID, a.Lo, true, true
	b.Items, b.Weight, b.Load = b.Items+a.Items, b.Weight+a.Weight, b.Load+a.Load
}

// start moves a slice. It does nothing if more than a share of all items, or than the cluster's
// budget, would have moved then, or if the mapper would refuse the move.
func (r *slicerRound) start(p *draft.Part, to int, moved *float64, share float64, why string) bool {
	ok, _ := r.May(p.ID, to)
	if !ok || !r.Shards[to].Room(p.Weight) || !r.fits(p, *moved, share) {
		return false
	}
	r.Start(p.ID, to, "slice %d, %.3f x the mean load of a shard, %d items, goes from shard %s to shard %s: %s",
		p.ID, r.OfMean(p.Load), p.Items, r.Shards[p.At].Name, r.Shards[to].Name, why)
	*moved += float64(p.Items)
	r.Shards[p.At].Slices--
	r.Shift(p.At, to, p.Items, p.Weight, p.Load)
	p.Busy = true
	return true
}

// fits reports whether a slice may move too, after `moved` items have moved.
func (r *slicerRound) fits(p *draft.Part, moved, share float64) bool {
	return moved+float64(p.Items) <= share*float64(r.Items) && r.Affords(p.Items, p.Weight)
}

// slicerMove is a move with its weight.
type slicerMove struct {
	part         *draft.Part
	to           int
	gain, weight float64
}

// move moves slices away from the hottest shard, those with the largest weight first.
func (r *slicerRound) move() {
	on := make([][]*draft.Part, len(r.Shards))
	for i := range r.Parts {
		if p := &r.Parts[i]; !p.Busy && !p.Gone && !p.Merged && p.Items > 0 {
			on[p.At] = append(on[p.At], p)
		}
	}
	for {
		from, ratio := r.HottestShard()
		best := r.best(from, on[from])
		if best.part == nil {
			r.Leave(0, "max/mean is then %.3f (shard %s): none of that shard's slices lowers it within the %.0f %% of all items that may move in an iteration",
				ratio, r.Shards[from].Name, 100*slicerMoveShare)
			return
		}
		why := fmt.Sprintf("of the hottest shard's slices it lowers max/mean most for what it moves, by %.4f", best.gain/r.Mean)
		on[from] = slices.DeleteFunc(on[from], func(p *draft.Part) bool { return p == best.part })
		r.start(best.part, best.to, &r.moved, slicerMoveShare, why)
	}
}

// best returns the move with the largest weight: of a slice of the hottest shard to the coolest
// shard that may take it. Its part is nil if no move lowers max/mean.
func (r *slicerRound) best(from int, list []*draft.Part) (best slicerMove) {
	coolest := r.coolest(from)
	for _, p := range list {
		if !r.fits(p, r.moved, slicerMoveShare) {
			continue
		}
		i := slices.IndexFunc(coolest, func(to int) bool {
			ok, _ := r.May(p.ID, to)
			return ok && r.Shards[to].Room(p.Weight)
		})
		if i < 0 {
			continue
		}
		gain := r.Shards[from].Heat() - r.hottestAfter(p.Load, from, coolest[i], coolest)
		if weight := gain / float64(p.Items); gain > 0 && weight > best.weight {
			best = slicerMove{p, coolest[i], gain, weight}
		}
	}
	return best
}

// coolest returns the other active shards, the coolest first.
func (r *slicerRound) coolest(but int) (list []int) {
	for k := range r.Shards {
		if k != but && r.Shards[k].Active {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Shards[a].Heat(), r.Shards[b].Heat()), cmp.Compare(a, b))
	})
	return list
}

// hottestAfter returns the heat of the hottest shard after load has moved. others has the other
// shards, the hottest last.
func (r *slicerRound) hottestAfter(load float64, from, to int, others []int) float64 {
	a, b := &r.Shards[from], &r.Shards[to]
	most := max((a.Load-load)/a.Share, (b.Load+load)/b.Share)
	for _, k := range slices.Backward(others) {
		if k != to {
			return max(most, r.Shards[k].Heat())
		}
	}
	return most
}

// split cuts slices with twice the load of the mean slice in two. Both parts stay on their shard.
func (r *slicerRound) split() {
	for i := range r.Parts {
		p := &r.Parts[i]
		n := &r.Shards[p.At]
		if p.Busy || p.Gone || p.Merged || p.Items < 2 || p.Load < slicerSplitAt*r.mean || n.Slices >= slicerSplitBelow {
			continue
		}
		at, left := draft.HalfOf(load.OfItems(r.In, p.Slice, nil), p.Load)
		if _, ok := r.Split(p.ID, at, "slice %d on shard %s has %.1f x the mean slice; it is split where its load is %.0f : %.0f",
			p.ID, n.Name, p.Load/r.mean, 100*left, 100-100*left); ok {
			n.Slices++
		}
	}
}
