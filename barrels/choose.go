package barrels

import (
	"context"
	"math/bits"

	"adshard/barrels/block"
	"adshard/search"
)

// choice visits of the many blocks of long lists only those that can win, the
// most promising ones of all lists first so that little is left that can
// (block-max pruning: Ding and Suel 2011). It decides as finder.Pass does,
// without touching the blocks; docs/format.md says why the answer stays exact.
type choice struct {
	finder *finder
	lists  []*termList
	passed uint64
	// A block with both bounds below own and inherited reaches no score of need
	// at a level of this factor (permille).
	need, factor   uint64
	own, inherited uint64
	// first are the most promising blocks, by falling bound.
	first   []promise
	batch   []promise
	winning []promise
}

// promise is a block of a list with the larger one of its bounds, campaigns'
// modifiers not looked at.
type promise struct {
	list  *termList
	block int
	bound uint64
}

const (
	// firstBlocks are visited before all others: those with the highest bounds.
	firstBlocks = 8
	// wave is how many blocks are fetched side by side. What is needed rises only
	// after all of them.
	wave = 4
)

// reset forgets the lists; f is the search, nil: none.
func (c *choice) reset(f *finder) {
	for _, list := range [...][]promise{c.first, c.batch, c.winning} {
		clear(list[:cap(list)])
	}
	clear(c.lists[:cap(c.lists)])
	*c = choice{finder: f, lists: c.lists[:0], first: c.first[:0], batch: c.batch[:0], winning: c.winning[:0]}
}

// visitFirst visits the most promising blocks of all lists.
func (c *choice) visitFirst(r *reader, best search.Level, visit search.Visit) {
	c.first = c.first[:0]
	for _, l := range c.lists {
		c.passed += uint64(len(l.blocks))
		c.promising(l)
	}
	for rest := c.first; len(rest) > 0; {
		n := min(wave, len(rest))
		c.visitAll(r, rest[:n], best, visit)
		rest = rest[n:]
	}
}

// visitAll visits those of some blocks that can still win.
func (c *choice) visitAll(r *reader, blocks []promise, best search.Level, visit search.Visit) {
	c.winning = c.winning[:0]
	for _, p := range blocks {
		if c.wins(&p.list.bounds[c.finder.request.Device].blocks[p.block], best) {
			c.winning = append(c.winning, p)
		}
	}
	for _, p := range c.winning {
		r.touched |= uint64(p.list.blocks[p.block].Load().postings)
	}
	for _, p := range c.winning {
		r.touch(p.list.blocks[p.block].Load())
	}
	for i, p := range c.winning {
		c.passed--
		r.visit(p.list, p.block, i < len(c.winning)-1, visit)
	}
}

// visitRest visits those of the other blocks that can still win.
func (c *choice) visitRest(ctx context.Context, r *reader, best search.Level, visit search.Visit) error {
	c.batch = c.batch[:0]
	for _, l := range c.lists {
		bounds := &l.bounds[c.finder.request.Device]
		for g := range bounds.groups {
			if !c.wins(&bounds.groups[g], best) {
				continue
			}
			for i := g * groupBlocks; i < min((g+1)*groupBlocks, len(bounds.blocks)); i++ {
				if !c.wins(&bounds.blocks[i], best) || c.isFirst(l, i) {
					continue
				}
				if c.batch = append(c.batch, promise{list: l, block: i}); len(c.batch) == wave {
					if over(ctx) {
						return ended(ctx, "barrels: search")
					}
					c.visitAll(r, c.batch, best, visit)
					c.batch = c.batch[:0]
				}
			}
		}
	}
	c.visitAll(r, c.batch, best, visit)
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

// promising takes those of a list's blocks that are among the most promising ones.
func (c *choice) promising(l *termList) {
	bounds := &l.bounds[c.finder.request.Device]
	for g := range bounds.groups {
		if !c.promises(larger(&bounds.groups[g])) {
			continue
		}
		for i := g * groupBlocks; i < min((g+1)*groupBlocks, len(bounds.blocks)); i++ {
			if b := larger(&bounds.blocks[i]); c.promises(b) {
				c.promise(promise{l, i, b})
			}
		}
	}
}

// promises tells whether a block with such a bound is among the most promising.
func (c *choice) promises(bound uint64) bool {
	return len(c.first) < firstBlocks || bound > c.first[firstBlocks-1].bound
}

// promise takes one that is.
func (c *choice) promise(p promise) {
	if len(c.first) < firstBlocks {
		c.first = append(c.first, p)
	}
	at := len(c.first) - 1
	for ; at > 0 && p.bound > c.first[at-1].bound; at-- {
		c.first[at] = c.first[at-1]
	}
	c.first[at] = p
}

// isFirst tells whether a block was visited among the most promising ones.
func (c *choice) isFirst(l *termList, i int) bool {
	for n := range c.first {
		if c.first[n].block == i && c.first[n].list == l {
			return true
		}
	}
	return false
}

func larger(b *block.Bound) uint64 { return max(b.Own, b.Inherited) }

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
