package strategy

import (
	"cmp"
	"container/heap"
	"math/bits"

	"adshard/balance"
	"adshard/balance/strategy/draft"
)

// bin is a shard with the weight assigned to it so far.
type bin struct {
	shard  balance.ShardID
	load   uint64
	share  uint64
	weight uint64 // limit of its weight; 0 if there is none
}

// bins is a heap of the active shards. The shard with the least weight for its share is
// first; among equals, that with the lowest id.
type bins []*bin

func newBins(in balance.Input) *bins {
	b := &bins{}
	for _, sh := range in.Model.Shards() {
		if sh.State != balance.Active {
			continue
		}
		*b = append(*b, &bin{shard: sh.ID, share: draft.ShareOf(in, sh.ID), weight: in.Limits[sh.ID].Weight})
	}
	heap.Init(b)
	return b
}

// take adds weight to the least loaded shard that has room, or to the least loaded
// shard if none has room.
func (b *bins) take(weight uint64) (taken *bin, fits bool) {
	var full []*bin
	for b.Len() > 0 {
		c := heap.Pop(b).(*bin)
		full = append(full, c)
		if c.weight == 0 || c.load+weight <= c.weight {
			taken, fits = c, true
			break
		}
	}
	if taken == nil {
		taken = full[0]
	}
	taken.load += weight
	for _, c := range full {
		heap.Push(b, c)
	}
	return taken, fits
}

func (b bins) Len() int { return len(b) }

func (b bins) Less(i, j int) bool {
	// compares load ÷ share, multiplied by both shares, which may take more than 64 bits
	x, xl := bits.Mul64(b[i].load, b[j].share)
	y, yl := bits.Mul64(b[j].load, b[i].share)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(xl, yl), cmp.Compare(b[i].shard, b[j].shard)) < 0
}

func (b bins) Swap(i, j int) { b[i], b[j] = b[j], b[i] }

// Push implements heap.Interface.
func (b *bins) Push(x any) { *b = append(*b, x.(*bin)) }

// Pop implements heap.Interface.
func (b *bins) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}
