package barrels

import (
	"context"
	"math/bits"
	"slices"

	"adshard/barrels/block"
	"adshard/search"
)

// choice visits of a term's many blocks only those that can win, the most
// promising ones first so that little is left that can (block-max pruning: Ding
// and Suel 2011). It decides as finder.Pass does, without touching the blocks;
// docs/format.md says why the answer stays exact.
type choice struct {
	finder *finder
	passed uint64
	// A block with both bounds below own and inherited reaches no score of need
	// at a level of this factor (permille).
	need, factor   uint64
	own, inherited uint64
	first          [firstBlocks]int
}

// firstBlocks are visited before all others: those with the highest bounds.
const firstBlocks = 4

// visit visits the blocks of a list.
func (c *choice) visit(ctx context.Context, r *reader, list *termList, best search.Level, visit search.Visit) error {
	bounds := list.bounds[c.finder.request.Device]
	c.passed += uint64(len(bounds))
	first := c.promising(bounds)
	for _, i := range first {
		if c.wins(&bounds[i], best) {
			c.passed--
			r.visit(list, i, false, visit)
		}
	}
	for i := range bounds {
		if !c.wins(&bounds[i], best) || slices.Contains(first, i) {
			continue
		}
		if over(ctx) {
			return ended(ctx, "barrels: search")
		}
		c.passed--
		r.visit(list, i, false, visit)
	}
	return nil
}

// wins tells whether a block with this bound may still win at a level.
func (c *choice) wins(b *block.Bound, best search.Level) bool {
	if need, factor := c.finder.top.Threshold(), best.Permille(); c.need != need || c.factor != factor {
		c.need, c.factor = need, factor
		c.own = leastFactor(need, factor)
		c.inherited = leastFactor(c.own, c.finder.state.parents.largest[c.finder.request.Device])
	}
	return b.Own >= c.own || b.Inherited >= c.inherited
}

// promising returns the blocks with the highest bounds, campaigns' modifiers
// not looked at.
func (c *choice) promising(bounds []block.Bound) []int {
	var best [firstBlocks]uint64
	c.first = [firstBlocks]int{}
	for i := range bounds {
		b := max(bounds[i].Own, bounds[i].Inherited)
		if b <= best[firstBlocks-1] {
			continue
		}
		at := firstBlocks - 1
		for ; at > 0 && b > best[at-1]; at-- {
			best[at], c.first[at] = best[at-1], c.first[at-1]
		}
		best[at], c.first[at] = b, i
	}
	n := 0
	for n < firstBlocks && best[n] > 0 {
		n++
	}
	return c.first[:n]
}

// leastFactor returns the least x for which ceil(x × permille ÷ 1000) is at
// least y, the largest number where there is none: bounds that do not fit are
// that number too.
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
