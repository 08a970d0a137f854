// Package draft has the common parts of strategies. Draft is the working state of an
// iteration, in which operations are tried and collected with their reasons. Layout is for
// strategies that know where each key belongs, whatever the load is; the package makes
// their first plan and their iterations.
package draft

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
)

// Draft is the working state of an iteration: the model with predicted loads. Moving slices
// count at their targets.
type Draft struct {
	In     balance.Input
	edit   *balance.Edit
	Shards []Shard // in the order of the model's shards
	// UpTo[i] is the sum of the shares of the active shards up to the i-th.
	UpTo  []float64
	Index map[balance.ShardID]int
	Parts []Part // in the order of the model's slices

	Total  float64 // load of all slices
	Mean   float64 // load of a shard of share 1 if all is even
	Items  int
	Weight uint64
	Active int

	// The budget of this iteration, and how much of it has been used.
	mostItems, mostWeight   float64
	movedItems, MovedWeight float64

	Ops     []balance.Op
	Reasons []balance.Reason
	Staying int // number of slices that stay and were explained, or would have been
}

// Shard is a shard with its predicted content.
type Shard struct {
	ID     balance.ShardID
	Name   string
	Share  float64
	Active bool
	limit  uint64 // limit of its weight; 0 if there is none
	Load   float64
	Slices int
	// Weight is the greatest weight that the shard will have: arriving slices count at
	// once, and leaving slices count until they have arrived elsewhere.
	Weight uint64
}

// Heat returns the shard's load divided by its share.
func (p *Shard) Heat() float64 { return p.Load / p.Share }

// Room reports whether the shard has room for this weight.
func (p *Shard) Room(weight uint64) bool { return p.limit == 0 || p.Weight+weight <= p.limit }

// Part is a slice with its content and its predicted shard.
type Part struct {
	balance.Slice
	load.SliceSum
	At     int  // index of its shard
	Busy   bool // moving, in this iteration or before
	Gone   bool // merged into its right neighbour, which has its id
	Merged bool // has taken in its left neighbour
	Cut    bool // split in two parts that both stay
}

// New returns the working state for an input. share is the greatest share of all items, and
// of their weight, that may move. The input's budget may be smaller.
func New(in balance.Input, share float64) *Draft {
	b := &Draft{In: in, edit: in.Model.Edit(), Index: map[balance.ShardID]int{}}
	shares := 0.0
	for i, sh := range in.Model.Shards() {
		l := in.Limits[sh.ID]
		b.Index[sh.ID] = i
		b.Shards = append(b.Shards, Shard{
			ID: sh.ID, Name: sh.Name, Share: float64(max(1, l.Share)), Active: sh.State == balance.Active, limit: l.Weight,
		})
		if sh.State == balance.Active {
			b.Active++
			shares += b.Shards[i].Share
		}
		b.UpTo = append(b.UpTo, shares)
	}
	sums := load.OfSlices(in)
	b.Parts = make([]Part, len(sums))
	for i, s := range in.Model.Slices() {
		p := Part{Slice: s, SliceSum: sums[i], At: b.Index[s.Target()], Busy: s.Move.Phase != balance.NoMove}
		b.Parts[i] = p
		n := &b.Shards[p.At]
		n.Load += p.Load
		n.Weight += p.Weight
		if s.Move.Phase == balance.Copying {
			b.Shards[b.Index[s.Shard]].Weight += p.Weight
		}
		n.Slices++
		b.Total += p.Load
		b.Items += p.Items
		b.Weight += p.Weight
	}
	if shares > 0 {
		b.Mean = b.Total / shares
	}
	if in.Budget.Share > 0 {
		share = min(share, in.Budget.Share)
	}
	b.mostItems, b.mostWeight = share*float64(b.Items), share*float64(b.Weight)
	return b
}

// Affords reports whether the budget has room for this many items with this weight.
func (b *Draft) Affords(items int, weight uint64) bool {
	return b.movedItems+float64(items) <= b.mostItems && b.MovedWeight+float64(weight) <= b.mostWeight
}

// Cost returns items and weight as a share of all data: the greater of the two shares.
func (b *Draft) Cost(items int, weight uint64) float64 {
	return max(float64(items)/float64(max(1, b.Items)), float64(weight)/float64(max(1, b.Weight)))
}

// May asks the mapper whether a slice of the model may begin to move to a shard.
func (b *Draft) May(slice uint64, to int) (bool, string) {
	if !b.Shards[to].Active {
		return false, "shard " + b.Shards[to].Name + " drains"
	}
	if b.In.May == nil {
		return true, ""
	}
	return b.In.May(slice, b.Shards[to].ID)
}

// Shift moves items from one shard to another in the prediction.
func (b *Draft) Shift(from, to, items int, weight uint64, load float64) {
	b.Shards[from].Load -= load
	b.Shards[to].Load += load
	b.Shards[to].Weight += weight
	b.Shards[to].Slices++
	b.movedItems += float64(items)
	b.MovedWeight += float64(weight)
}

// HottestShard returns the shard with the most load for its share, and max/mean.
func (b *Draft) HottestShard() (shard int, ratio float64) {
	for i := range b.Shards {
		if b.Shards[i].Heat() > b.Shards[shard].Heat() {
			shard = i
		}
	}
	if b.Mean == 0 {
		return shard, 1
	}
	return shard, b.Shards[shard].Heat() / b.Mean
}

// op adds an operation with its reason.
func (b *Draft) op(o balance.Op, format string, args ...any) {
	b.Ops = append(b.Ops, o)
	b.Reasons = append(b.Reasons, balance.Reason{Op: len(b.Ops) - 1, Text: fmt.Sprintf(format, args...)})
}

// Start moves a slice, possibly one split off in this proposal, to a shard. It does nothing
// if the mapper would refuse the move.
func (b *Draft) Start(slice uint64, to int, format string, args ...any) {
	if b.edit.Start(slice, b.Shards[to].ID) != nil {
		return
	}
	b.op(balance.Op{Kind: balance.OpStart, Slice: slice, Shard: b.Shards[to].ID}, format, args...)
}

// Split cuts a slice at a key and returns the id of the new slice. It returns false if the
// mapper would refuse the split.
func (b *Draft) Split(slice uint64, at balance.Key, format string, args ...any) (uint64, bool) {
	right, err := b.edit.Split(slice, at)
	if err != nil {
		return 0, false
	}
	b.op(balance.Op{Kind: balance.OpSplit, Slice: slice, At: at, New: right}, format, args...)
	return right, true
}

// Merge joins a slice with its right neighbour. It returns false if the mapper would refuse
// the merge.
func (b *Draft) Merge(left, right uint64, format string, args ...any) bool {
	if b.edit.Merge(left, right) != nil {
		return false
	}
	b.op(balance.Op{Kind: balance.OpMerge, Slice: left, New: right}, format, args...)
	return true
}

// Leave records why something stays as it is. slice is 0 if the reason is not about a
// single slice.
func (b *Draft) Leave(slice uint64, format string, args ...any) {
	b.Reasons = append(b.Reasons, balance.Reason{Op: -1, Slice: slice, Text: fmt.Sprintf(format, args...)})
}

// Proposal returns the proposal made so far.
func (b *Draft) Proposal() balance.Proposal {
	i, _ := b.HottestShard()
	e := balance.Evenness{Mean: b.Mean}
	if len(b.Shards) > 0 {
		e.Max, e.Shard = b.Shards[i].Heat(), b.Shards[i].ID
	}
	return balance.Proposal{Ops: b.Ops, Reasons: b.Reasons, Expected: e}
}

// Measured adds a reason at the beginning if no load is measured.
func (b *Draft) Measured() {
	if b.In.Loads == nil || !b.In.Loads.Measured() {
		b.Leave(0, "no load is measured yet; the items' weights are used instead")
	}
}

// OfMean returns a load as a multiple of the mean.
func (b *Draft) OfMean(load float64) float64 {
	if b.Mean == 0 {
		return 0
	}
	return load / b.Mean
}
