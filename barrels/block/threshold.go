package block

import (
	"math/bits"

	"adshard/auction"
	"adshard/search"
	"adshard/targeting"
)

// Threshold is the block-max test (Ding and Suel 2011): the least bounds that a
// block needs to reach some score. docs/format.md shows why blocks below it can
// be skipped.
type Threshold struct{ own, inherited uint64 }

// NewThreshold returns the threshold for a score, when no campaign's modifier on
// the device is above maxModifier (permille), no campaign's targeting multiplies bids by more than
// maxFactor (permille), and no posting matches better than at level.
func NewThreshold(score, maxModifier, maxFactor uint64, level search.Level) Threshold {
	least := leastFactor(score, level.Permille())
	if maxFactor == 1000 {
		return Threshold{own: least, inherited: leastFactor(least, maxModifier)}
	}
	// An own bound is of a bid that was rounded down before the factor: what is lost is less than the largest quality.
	own := leastFactor(least, maxFactor)
	return Threshold{
		own:       own - min(own, auction.MaxQuality),
		inherited: leastFactor(least, min((maxModifier*maxFactor+999)/1000, targeting.MaxModifier)),
	}
}

// Reached reports whether a block with this bound may have a posting that reaches
// the score.
func (t Threshold) Reached(b Bound) bool { return b.Own >= t.own || b.Inherited >= t.inherited }

// leastFactor returns the least x with ceil(x × permille ÷ 1000) ≥ y, or the largest number if
// there is none, like bounds that overflow.
func leastFactor(y, permille uint64) uint64 {
	if y == 0 {
		return 0
	}
	hi, lo := bits.Mul64(y-1, 1000)
	if hi >= permille {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, permille)
	return max(q, q+1) // q+1, or q where that is the largest number
}
