package ablation

import (
	"adshard/bench/layouts"
)

// Pairs is what anchors that are pairs of words would change, a query.
type Pairs struct {
	// Moved is the number of keywords whose anchor becomes a pair.
	Moved int
	// Words and WithPairs: the rarest word is the anchor of all keywords, or a
	// pair of some.
	Words, WithPairs Effort
}

// Effort is what a query costs on average.
type Effort struct {
	// Lookups of anchors, found or not.
	Lookups float64
	// Candidates are the keywords at the anchors found, Matches those that match.
	Candidates, Matches float64
}

// pair is two words, as indexes into a set's, the rarer one first.
type pair struct{ rare, other uint32 }

// CountPairs counts what would come of it if keywords whose rarest word is the
// anchor of more than most keywords were anchored at their two rarest words
// instead; a query then has to look up each such word of its own with each of its
// others as well. Keywords of a single word stay where they are.
func CountPairs(set *layouts.Set, queries []*layouts.Query, most int) Pairs {
	c := newPairCount(set, most)
	out := Pairs{Moved: c.moved}
	for _, q := range queries {
		c.query(q, &out)
	}
	n := float64(max(1, len(queries)))
	for _, e := range []*Effort{&out.Words, &out.WithPairs} {
		e.Lookups /= n
		e.Candidates /= n
		e.Matches /= n
	}
	return out
}

// pairCount is a set's keywords by anchor.
type pairCount struct {
	index   map[string]uint32
	words   [][]uint32 // keywords by rarest word
	heavy   []bool     // by word: its keywords of several words move to pairs
	pairs   map[pair][]uint32
	single  []uint32 // by heavy word: how many keywords stay
	set     *layouts.Set
	moved   int
	asked   []bool // by word: it is in the query
	scratch []uint32
}

func newPairCount(set *layouts.Set, most int) *pairCount {
	n := len(set.Words)
	c := &pairCount{
		index: make(map[string]uint32, n), words: make([][]uint32, n), heavy: make([]bool, n),
		pairs: make(map[pair][]uint32), single: make([]uint32, n), set: set, asked: make([]bool, n),
	}
	for i, w := range set.Words {
		c.index[w] = uint32(i)
	}
	for i := range set.Len() {
		w := set.Rarest(i)
		c.words[w] = append(c.words[w], uint32(i))
	}
	for w, list := range c.words {
		if len(list) <= most {
			continue
		}
		c.heavy[w] = true
		for _, i := range list {
			other, ok := c.second(int(i), uint32(w))
			if !ok {
				c.single[w]++
				continue
			}
			p := pair{uint32(w), other}
			c.pairs[p] = append(c.pairs[p], i)
			c.moved++
		}
	}
	return c
}

// second is the rarest word of keyword i but for one; false: it has no other.
func (c *pairCount) second(i int, but uint32) (second uint32, ok bool) {
	for _, w := range c.set.Of(i) {
		if w != but && (!ok || c.set.Counts[w] < c.set.Counts[second]) {
			second, ok = w, true
		}
	}
	return second, ok
}

// query adds a query's effort.
func (c *pairCount) query(q *layouts.Query, out *Pairs) {
	known := c.scratch[:0]
	for _, word := range q.Words {
		if w, ok := c.index[word]; ok {
			known = append(known, w)
			c.asked[w] = true
		}
	}
	c.scratch = known
	for _, w := range known {
		matches := c.matches(c.words[w])
		out.Words.add(1, len(c.words[w]), matches)
		if !c.heavy[w] {
			out.WithPairs.add(1, len(c.words[w]), matches)
			continue
		}
		out.WithPairs.add(1, int(c.single[w]), int(c.single[w]))
		for _, other := range known {
			if other != w {
				list := c.pairs[pair{w, other}]
				out.WithPairs.add(1, len(list), c.matches(list))
			}
		}
	}
	for _, w := range known {
		c.asked[w] = false
	}
}

// matches counts the keywords all of whose words are asked for.
func (c *pairCount) matches(keywords []uint32) (n int) {
next:
	for _, i := range keywords {
		for _, w := range c.set.Of(int(i)) {
			if !c.asked[w] {
				continue next
			}
		}
		n++
	}
	return n
}

func (e *Effort) add(lookups, candidates, matches int) {
	e.Lookups += float64(lookups)
	e.Candidates += float64(candidates)
	e.Matches += float64(matches)
}
