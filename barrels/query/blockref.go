package query

import (
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// blockRef is a block that a scan visits, either cached or read for this visit only.
type blockRef struct {
	view   *block.View
	cached *index.Block // nil if not cached
}

// classRef is a class of a block: postings with the same words and match type, so that a query matches
// all of them or none. In a block that is not cached each posting is a class.
type classRef struct {
	blockRef
	class int32
	// level at which the class matches, once known
	level search.Level
}

func refOf(b *index.Block) blockRef { return blockRef{view: &b.View, cached: b} }

// live reports whether any posting of the block can match.
func (b blockRef) live() bool {
	if b.cached != nil {
		return b.cached.Live
	}
	return b.view.Live() > 0
}

// len returns the number of postings.
func (b blockRef) len() int {
	if b.cached != nil {
		return int(b.cached.Postings)
	}
	return b.view.Len()
}

// signatures returns the signature of each class.
func (b blockRef) signatures() []search.Signature {
	if b.cached != nil {
		return b.cached.Signatures()
	}
	return b.view.Signatures()
}

// norms appends the hashes of the class's normalised words, in order, and returns its match type
// and the hashes. It returns no hashes if the block is not cached.
func (c *classRef) norms(dst []uint64) (search.MatchType, []uint64) {
	if c.cached != nil {
		return c.cached.Norms(int(c.class), dst)
	}
	return 0, nil
}

// words returns the class's match type and its words in order.
func (c *classRef) words() (search.MatchType, block.Refs) {
	if c.cached != nil {
		return c.cached.Class(int(c.class))
	}
	return c.view.Posting(int(c.class))
}
