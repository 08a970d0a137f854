package block

import (
	"math/bits"

	"adshard/search"
)

// Threshold is the block-max test (Ding and Suel 2011): the least reach that a block must have to contain a posting with a
// given score that bids a given reserve. docs/format.md shows why blocks below it can be skipped.
type Threshold struct{ score, reserve uint64 }

// NewThreshold returns the threshold for a score and a reserve if no posting matches at a better level than `level`.
func NewThreshold(score, reserve uint64, level search.Level) Threshold {
	return Threshold{score: leastFactor(score, level.Permille()), reserve: satMul(reserve, bidUnit)}
}

// Reached reports whether a block with this reach (Bound.Reach) may have a posting with the score.
func (t Threshold) Reached(reach uint64) bool { return reach >= t.score }

// ReachedBidding reports whether a block with this reach and ratio (View.BidRatio) may have a posting with the score that bids
// the reserve.
func (t Threshold) ReachedBidding(reach uint64, ratio uint8) bool {
	return reach >= t.score && reach >= satMul(t.reserve, uint64(ratio))
}

// leastFactor returns the least x with ceil(x × permille ÷ 1000) ≥ y, or the largest number if there is no such x or it
// overflows.
func leastFactor(y, permille uint64) uint64 {
	if y == 0 {
		return 0
	}
	hi, lo := bits.Mul64(y-1, 1000)
	if hi >= permille {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, permille)
	return max(q, q+1) // q+1, or q if that is already the largest number
}
