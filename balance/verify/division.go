package verify

import (
	"adshard/balance/cluster"
)

// division says how large the parts of a comparison are.
type division struct {
	most    int  // greatest number of items in a part; 0 means partItems
	limit   int  // most is at most this; 0 means partItems
	changes bool // parts were made smaller because their items change
}

// coarseAsks is the number of questions about a part before it is divided into `finer`
// smaller ones. fineAsks is the same for a part that is already smaller.
const coarseAsks, fineAsks, finer = 3, 8, 8

// widen lets the next parts be larger if this one was verified by its first question.
func (c *Comparison) widen() {
	if c.asks <= 1 {
		c.most = min(2*c.most, c.limit)
		c.changes = c.changes && c.most < partItems
	}
}

// divide replaces the current part by a smaller one. It reports whether it could: a
// part of one item cannot be divided.
func (c *Comparison) divide(w *cluster.Cluster) bool {
	if c.count <= 1 {
		return false
	}
	c.most = max(1, c.count/finer)
	c.items, c.bytes = c.before.items, c.before.bytes
	c.begin(w, c.part.Lo)
	return true
}

// divideIfChanging divides a part that was asked about often enough, and reports
// whether it did.
func (c *Comparison) divideIfChanging(w *cluster.Cluster) bool {
	if c.asks < coarseAsks || c.changes && c.asks < fineAsks || c.matched == allBins {
		return false
	}
	c.changes = true
	return c.divide(w)
}
