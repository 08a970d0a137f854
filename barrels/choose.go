package barrels

import (
	"context"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// choice visits of the many blocks of long lists only those that can win, the
// most promising ones of all lists first so that little is left that can
// (block-max pruning: Ding and Suel 2011). It decides as finder.Pass does,
// without touching the blocks; docs/format.md says why the answer stays exact.
type choice struct {
	finder *finder
	lists  []*index.PostingList
	passed uint64
	// threshold is the block-max test for a score of need at a level.
	threshold block.Threshold
	need      uint64
	level     search.Level
	// first are the most promising blocks, by falling bound.
	first   []promise
	batch   []promise
	winning []promise
}

// promise is a block of a list with the larger one of its bounds, campaigns'
// modifiers not looked at.
type promise struct {
	list  *index.PostingList
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
		c.passed += uint64(len(l.Blocks))
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
		if c.wins(&p.list.Bounds[c.finder.request.Device].Blocks[p.block], best) {
			c.winning = append(c.winning, p)
		}
	}
	for _, p := range c.winning {
		r.touched |= uint64(p.list.Blocks[p.block].Load().Postings)
	}
	for _, p := range c.winning {
		r.touch(p.list.Blocks[p.block].Load())
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
		bounds := &l.Bounds[c.finder.request.Device]
		for g := range bounds.Groups {
			if !c.wins(&bounds.Groups[g], best) {
				continue
			}
			for i := g * index.GroupBlocks; i < min((g+1)*index.GroupBlocks, len(bounds.Blocks)); i++ {
				if !c.wins(&bounds.Blocks[i], best) || c.isFirst(l, i) {
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
	if need := c.finder.top.Threshold(); c.need != need || c.level != best {
		c.need, c.level = need, best
		c.threshold = block.NewThreshold(need, c.finder.state.Parents.MaxModifier[c.finder.request.Device], best)
	}
	return c.threshold.Reached(*b)
}

// promising takes those of a list's blocks that are among the most promising ones.
func (c *choice) promising(l *index.PostingList) {
	bounds := &l.Bounds[c.finder.request.Device]
	for g := range bounds.Groups {
		if !c.promises(larger(&bounds.Groups[g])) {
			continue
		}
		for i := g * index.GroupBlocks; i < min((g+1)*index.GroupBlocks, len(bounds.Blocks)); i++ {
			if b := larger(&bounds.Blocks[i]); c.promises(b) {
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
func (c *choice) isFirst(l *index.PostingList, i int) bool {
	for n := range c.first {
		if c.first[n].block == i && c.first[n].list == l {
			return true
		}
	}
	return false
}

func larger(b *block.Bound) uint64 { return max(b.Own, b.Inherited) }
