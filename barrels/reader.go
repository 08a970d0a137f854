package barrels

import (
	"bytes"
	"context"

	"adshard/barrels/block"
	"adshard/search"
)

// reader is search.Postings on a state's snapshot.
type reader struct {
	state *state
	terms *cache[[]*termBlock]
	it    Iterator // opened on first use
	view  block.View
	key   []byte
	// term is whose blocks are being visited.
	term uint64
	// bad are the parts of the ring whose postings could not be read.
	bad []run
}

// termBlock is a block in the cache.
type termBlock struct {
	view block.View
	key  uint64 // ring key in its key
}

var _ search.Postings = (*reader)(nil)

func (r *reader) reset(st *state, terms *cache[[]*termBlock]) {
	r.state, r.terms = st, terms
	r.bad = r.bad[:0]
}

func (r *reader) close() {
	if r.it != nil {
		r.it.Close()
	}
	r.it, r.state, r.terms, r.view = nil, nil, nil, block.View{}
}

// Known implements search.Postings.
func (r *reader) Known(term uint64) bool { return r.state.terms.known(term) }

// Blocks implements search.Postings.
func (r *reader) Blocks(ctx context.Context, term uint64, visit func(search.Block) bool) error {
	if !r.state.terms.found(term) {
		return nil
	}
	r.term = term
	if list, ok := r.terms.get(term, r.state.number); ok {
		return r.kept(ctx, list, visit)
	}
	return r.stored(ctx, term, visit)
}

// kept visits the blocks of a term that were in the cache.
func (r *reader) kept(ctx context.Context, list []*termBlock, visit func(search.Block) bool) error {
	for i, b := range list {
		if over(ctx) {
			return ended(ctx, "barrels: search")
		}
		more, good := visitBlock(&b.view, visit)
		if !good {
			to := ^uint64(0)
			if i+1 < len(list) {
				to = list[i+1].key
			}
			r.bad = append(r.bad, run{b.key, to})
		}
		if !more {
			return nil
		}
	}
	return nil
}

// stored visits the blocks of a term as they are in the snapshot. When all of
// them are good and not too large together, they go into the cache.
func (r *reader) stored(ctx context.Context, term uint64, visit func(search.Block) bool) error {
	if r.it == nil {
		r.it = r.state.snapshot.Prefix(Postings)
	}
	r.key = appendKey(r.key[:0], term, 0, 0)
	c := collected{room: r.terms.most()}
	from := uint64(0) // ring key where what is read next begins
	torn := false     // the block before was damaged
	for ok := r.it.Seek(r.key); ok; ok = r.it.Next() {
		if over(ctx) {
			return ended(ctx, "barrels: search")
		}
		from = keyPart(r.it.Key(), 1)
		if torn {
			r.bad[len(r.bad)-1].hi = from
		}
		view := c.open(from, r.it.Value(), &r.view)
		more, good := true, view != nil
		if good {
			more, good = visitBlock(view, visit)
		}
		if torn = !good; torn {
			c.room = 0
			r.bad = append(r.bad, run{from, ^uint64(0)})
		}
		if !more {
			return nil
		}
	}
	if r.it.Err() != nil {
		r.bad = append(r.bad, run{from, ^uint64(0)})
	} else if c.room > 0 {
		r.terms.put(term, r.state.number, c.list, c.size)
	}
	return nil
}

// collected gathers the blocks of a term for the cache while they fit in.
type collected struct {
	list       []*termBlock
	size, room int
}

// open opens a block, on a copy of its bytes if it is to be kept, else with the
// scratch view; nil: it is damaged.
func (c *collected) open(key uint64, value []byte, scratch *block.View) *block.View {
	if c.size += len(value) + cacheOverhead; c.size > c.room {
		c.room = 0
	}
	if c.room == 0 {
		if scratch.Open(value) != nil || scratch.Sign() != nil {
			return nil
		}
		return scratch
	}
	b := &termBlock{key: key}
	if b.view.Open(bytes.Clone(value)) != nil || b.view.Sign() != nil {
		return nil
	}
	c.list = append(c.list, b)
	return &b.view
}

// visitBlock hands a block over. What panics on its bytes is damage as well.
func visitBlock(v *block.View, visit func(search.Block) bool) (more, good bool) {
	defer func() {
		if recover() != nil {
			more, good = true, false
		}
	}()
	return visit(v), true
}

// over tells whether ctx has ended.
func over(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}
