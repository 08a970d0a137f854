package strategy

import (
	"fmt"

	"adshard/balance"
	"adshard/balance/load"
)

// board is the working state of an iteration: the model with predicted loads.
// Moving slices count at their targets.
type board struct {
	in    balance.Input
	edit  *balance.Edit
	nodes []place // as the model's
	// shares[i] is the share of the active nodes up to the i-th.
	shares []float64
	index  map[balance.NodeID]int
	parts  []part // as the model's slices

	total  float64 // load
	mean   float64 // load of a node of share 1 when all is even
	items  int
	weight uint64
	active int

	// The budget of this iteration, and how much of it is used.
	mostItems, mostWeight   float64
	movedItems, movedWeight float64

	ops     []balance.Op
	reasons []balance.Reason
	staying int // slices that stay and were explained, or would have been
}

// place is a node with its predicted content.
type place struct {
	id     balance.NodeID
	name   string
	share  float64
	active bool
	limit  uint64 // of weight; 0: none
	load   float64
	slices int
	// weight is the node's peak: what arrives counts at once, what leaves counts
	// until it has arrived elsewhere.
	weight uint64
}

// hot is the node's load for its share.
func (p *place) hot() float64 { return p.load / p.share }

// room reports whether so much weight fits.
func (p *place) room(weight uint64) bool { return p.limit == 0 || p.weight+weight <= p.limit }

// part is a slice with its content and its predicted node.
type part struct {
	balance.Slice
	load.SliceSum
	at     int  // index of its node
	busy   bool // on its way, now or before
	gone   bool // merged into its right neighbour, which has its id
	merged bool // has taken in its left neighbour
	split  bool // in two, and both stay
}

// newBoard reads the input. share is the most of all items, and of their
// weight, that may move; the input's budget may be less.
func newBoard(in balance.Input, share float64) *board {
	b := &board{in: in, edit: in.Model.Edit(), index: map[balance.NodeID]int{}}
	shares := 0.0
	for i, n := range in.Model.Nodes() {
		l := in.Limits[n.ID]
		b.index[n.ID] = i
		b.nodes = append(b.nodes, place{
			id: n.ID, name: n.Name, share: float64(max(1, l.Share)), active: n.State == balance.Active, limit: l.Weight,
		})
		if n.State == balance.Active {
			b.active++
			shares += b.nodes[i].share
		}
		b.shares = append(b.shares, shares)
	}
	sums := load.OfSlices(in)
	b.parts = make([]part, len(sums))
	for i, s := range in.Model.Slices() {
		p := part{Slice: s, SliceSum: sums[i], at: b.index[s.Target()], busy: s.Move.Phase != balance.NoMove}
		b.parts[i] = p
		n := &b.nodes[p.at]
		n.load += p.Load
		n.weight += p.Weight
		if s.Move.Phase == balance.Copying {
			b.nodes[b.index[s.Node]].weight += p.Weight
		}
		n.slices++
		b.total += p.Load
		b.items += p.Items
		b.weight += p.Weight
	}
	if shares > 0 {
		b.mean = b.total / shares
	}
	if in.Budget.Share > 0 {
		share = min(share, in.Budget.Share)
	}
	b.mostItems, b.mostWeight = share*float64(b.items), share*float64(b.weight)
	return b
}

// affords reports whether the budget has room for so much.
func (b *board) affords(items int, weight uint64) bool {
	return b.movedItems+float64(items) <= b.mostItems && b.movedWeight+float64(weight) <= b.mostWeight
}

// cost returns the share of all data.
func (b *board) cost(items int, weight uint64) float64 {
	return max(float64(items)/float64(max(1, b.items)), float64(weight)/float64(max(1, b.weight)))
}

// may asks the mapper whether a slice of the model may begin to move to a node.
func (b *board) may(slice uint64, to int) (bool, string) {
	if !b.nodes[to].active {
		return false, "node " + b.nodes[to].name + " drains"
	}
	if b.in.May == nil {
		return true, ""
	}
	return b.in.May(slice, b.nodes[to].id)
}

// shift moves a part of what lies on a node to another, in the prediction.
func (b *board) shift(from, to, items int, weight uint64, load float64) {
	b.nodes[from].load -= load
	b.nodes[to].load += load
	b.nodes[to].weight += weight
	b.nodes[to].slices++
	b.movedItems += float64(items)
	b.movedWeight += float64(weight)
}

// hottest returns the node with the most load for its share, and max/mean.
func (b *board) hottest() (node int, ratio float64) {
	for i := range b.nodes {
		if b.nodes[i].hot() > b.nodes[node].hot() {
			node = i
		}
	}
	if b.mean == 0 {
		return node, 1
	}
	return node, b.nodes[node].hot() / b.mean
}

// op adds an operation with its reason.
func (b *board) op(o balance.Op, format string, args ...any) {
	b.ops = append(b.ops, o)
	b.reasons = append(b.reasons, balance.Reason{Op: len(b.ops) - 1, Text: fmt.Sprintf(format, args...)})
}

// start moves a slice, possibly one split off in this proposal, to a node, unless
// the mapper would refuse it.
func (b *board) start(slice uint64, to int, format string, args ...any) {
	if b.edit.Start(slice, b.nodes[to].id) != nil {
		return
	}
	b.op(balance.Op{Kind: balance.OpStart, Slice: slice, Node: b.nodes[to].id}, format, args...)
}

// split cuts a slice at a key and returns the new slice; false when the mapper
// would refuse it.
func (b *board) split(slice uint64, at balance.Key, format string, args ...any) (uint64, bool) {
	right, err := b.edit.Split(slice, at)
	if err != nil {
		return 0, false
	}
	b.op(balance.Op{Kind: balance.OpSplit, Slice: slice, At: at, New: right}, format, args...)
	return right, true
}

// merge joins a slice with its right neighbour; it returns false if the mapper would
// refuse that.
func (b *board) merge(left, right uint64, format string, args ...any) bool {
	if b.edit.Merge(left, right) != nil {
		return false
	}
	b.op(balance.Op{Kind: balance.OpMerge, Slice: left, New: right}, format, args...)
	return true
}

// leave records why something stays as it is; slice 0: no single one.
func (b *board) leave(slice uint64, format string, args ...any) {
	b.reasons = append(b.reasons, balance.Reason{Op: -1, Slice: slice, Text: fmt.Sprintf(format, args...)})
}

// proposal returns the proposal made so far.
func (b *board) proposal() balance.Proposal {
	i, _ := b.hottest()
	e := balance.Evenness{Mean: b.mean}
	if len(b.nodes) > 0 {
		e.Max, e.Node = b.nodes[i].hot(), b.nodes[i].id
	}
	return balance.Proposal{Ops: b.ops, Reasons: b.reasons, Expected: e}
}

// measured adds a first reason if no load is measured.
func (b *board) measured() {
	if b.in.Loads == nil || !b.in.Loads.Measured() {
		b.leave(0, "no load is measured yet; the items' weights are used instead")
	}
}

// x is a load as a multiple of the mean.
func (b *board) x(load float64) float64 {
	if b.mean == 0 {
		return 0
	}
	return load / b.mean
}
