package verify

import (
	"adshard/balance/cluster"
)

// division is how large the parts of a comparison are.
type division struct {
	most    int  // items that a part may have; 0: partItems
	limit   int  // most does not exceed it; 0: partItems
	changes bool // parts were made smaller because their items change
}

// coarseAsks is how many questions are asked about a part before it is made smaller,
// finer times, and fineAsks the same of a part that was made smaller.
const coarseAsks, fineAsks, finer = 3, 8, 8

// widen lets parts be larger if one was verified by its first question.
func (c *Comparison) widen() {
	if c.asks <= 1 {
		c.most = min(2*c.most, c.limit)
		c.changes = c.changes && c.most < partItems
	}
}

// divide begins a smaller part in place of the current one, if that has more than one
// item; it reports whether it does.
func (c *Comparison) divide(w *cluster.Cluster) bool {
	if c.count <= 1 {
		return false
	}
	c.most = max(1, c.count/finer)
	c.items, c.bytes = c.before.items, c.before.bytes
	c.begin(w, c.part.Lo)
	return true
}

// divideIfChanging divides a part that was asked for often enough; it reports whether
// it did.
func (c *Comparison) divideIfChanging(w *cluster.Cluster) bool {
	if c.asks < coarseAsks || c.changes && c.asks < fineAsks || c.matched == allBins {
		return false
	}
	c.changes = true
	return c.divide(w)
}
