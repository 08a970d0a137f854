package barrels

import (
	"context"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// reader is search.Postings on a state's snapshot.
type reader struct {
	state *index.Snapshot
	lists *index.ListCache
	// device is the request's, whose judgements will be needed.
	device search.Device
	it     kv.Iterator // opened on first use
	view   block.View
	key    []byte
	// terms are those of the query, found what is known of each.
	terms []search.QueryTerm
	found []foundTerm
	// reading is the term whose blocks are being read from the snapshot.
	reading uint64
	// touched keeps the compiler from leaving out what is only touched.
	touched uint64
	// pick visits only blocks that can still win; nil: all are visited.
	pick *choice
	// bad are the parts of the ring whose postings could not be read; rot: some of
	// them as they are kept in memory.
	bad []index.Interval
	rot bool
}

var _ search.Postings = (*reader)(nil)

func (r *reader) reset(st *index.Snapshot, l *index.ListCache, d search.Device) {
	r.state, r.lists, r.device = st, l, d
	r.bad, r.rot = r.bad[:0], false
}

func (r *reader) close() {
	if r.it != nil {
		r.it.Close()
	}
	r.it, r.state, r.lists, r.pick, r.view, r.terms = nil, nil, nil, nil, block.View{}, nil
	clear(r.found)
}

// Find implements search.Postings. Each step touches the same thing of all
// terms before the next step needs it, so that the processor fetches them side
// by side.
func (r *reader) Find(terms []search.QueryTerm, known []int32) []int32 {
	r.terms, r.found = terms, r.found[:0]
	t := r.state.Terms
	for i := range terms {
		r.touched |= t.Touch(terms[i].Term)
	}
	for i := range terms {
		found, anchors, list := t.Lookup(terms[i].Term, r.state.Number)
		if found {
			known = append(known, int32(i))
		}
		r.found = append(r.found, foundTerm{anchors, list})
	}
	for i := range r.found {
		if l := r.found[i].list; l != nil {
			r.touched |= l.State()
		}
	}
	for i := range r.found {
		if l := r.found[i].list; l != nil && len(l.Blocks) > 0 {
			r.touched |= uint64(l.Blocks[0].Load().Postings)
		}
	}
	for i := range r.found {
		if l := r.found[i].list; l != nil && len(l.Blocks) > 0 {
			r.touch(l.Blocks[0].Load())
		}
	}
	return known
}

// touch fetches what a visit reads first of a block.
func (r *reader) touch(b *index.Block) {
	if s := b.Signatures(); len(s) > 0 {
		r.touched |= uint64(s[0])
	}
	if j := b.Impacts[r.device].Load(); j != nil {
		r.touched |= j.View
	}
}

// foundTerm is what the table knows of a term of the query.
type foundTerm struct {
	anchors bool               // keywords may be anchored at it
	list    *index.PostingList // nil: its blocks are not in memory
}

// Blocks implements search.Postings.
func (r *reader) Blocks(ctx context.Context, terms []int32, best search.Level, visit search.Visit) error {
	if r.pick != nil {
		r.pick.lists = r.pick.lists[:0]
		for _, i := range terms {
			if r.picks(&r.found[i]) {
				r.pick.lists = append(r.pick.lists, r.found[i].list)
			}
		}
		r.pick.visitFirst(r, best, visit)
	}
	for _, i := range terms {
		if err := r.term(ctx, int(i), visit); err != nil {
			return err
		}
	}
	if r.pick != nil {
		return r.pick.visitRest(ctx, r, best, visit)
	}
	return nil
}

// picks tells whether only those blocks of a term are visited that can win.
func (r *reader) picks(f *foundTerm) bool {
	return r.pick != nil && f.anchors && f.list != nil && f.list.Bounds != nil
}

// term visits all blocks of a term, unless they are picked.
func (r *reader) term(ctx context.Context, i int, visit search.Visit) error {
	switch f := &r.found[i]; {
	case !f.anchors || r.picks(f):
		return nil
	case f.list != nil:
		return r.kept(ctx, f.list, visit)
	}
	r.reading = r.terms[i].Term
	return r.stored(ctx, r.reading, visit)
}

// kept visits the blocks of a term that are in memory.
func (r *reader) kept(ctx context.Context, list *index.PostingList, visit search.Visit) error {
	for i := range list.Blocks {
		if over(ctx) {
			return ended(ctx, "barrels: search")
		}
		r.visit(list, i, true, visit)
	}
	return nil
}

// visit hands the i-th block of a list over.
func (r *reader) visit(list *index.PostingList, i int, later bool, visit search.Visit) {
	if b := list.Block(i); b == nil || !r.visitBlock(b, later, visit) {
		r.forget(list.Blocks[i].Load().Term)
		r.rot = true
		to := ^uint64(0)
		if i+1 < len(list.Blocks) {
			to = list.Place(i + 1).Key
		}
		r.bad = append(r.bad, index.Interval{Lo: list.Place(i).Key, Hi: to})
	}
}

// forget drops what is kept of a term: the store may have it whole.
func (r *reader) forget(term uint64) {
	r.lists.Drop(r.state.Terms, term)
}

// stored visits the blocks of a term as they are in the snapshot. When all of
// them are good and not too large together, they are kept in memory.
func (r *reader) stored(ctx context.Context, term uint64, visit search.Visit) error {
	if r.it == nil {
		r.it = r.state.Data.Prefix(kv.Postings)
	}
	r.key = kv.AppendKey(r.key[:0], term, 0, 0)
	c := r.lists.NewListBuilder()
	from := uint64(0) // ring key where what is read next begins
	torn := false     // the block before was damaged
	for ok := r.it.Seek(r.key); ok; ok = r.it.Next() {
		if over(ctx) {
			return ended(ctx, "barrels: search")
		}
		from = kv.KeyPart(r.it.Key(), 1)
		if torn {
			r.bad[len(r.bad)-1].Hi = from
		}
		b := r.open(&c, term, kv.Place{Key: from, Keyword: kv.KeyPart(r.it.Key(), 2)}, r.it.Value())
		if torn = b == nil || !r.visitBlock(b, false, visit); torn {
			c.Abandon()
			r.bad = append(r.bad, index.Interval{Lo: from, Hi: ^uint64(0)})
		}
	}
	if r.it.Err() != nil {
		r.bad = append(r.bad, index.Interval{Lo: from, Hi: ^uint64(0)})
	} else if list := c.List(r.state.Number); list != nil {
		r.lists.Put(r.state.Terms, term, list)
	}
	return nil
}

// open opens a block, with the scratch view if it is not to be kept; nil: it is
// damaged.
func (r *reader) open(c *index.ListBuilder, term uint64, at kv.Place, value []byte) search.Block {
	b, full := c.Add(term, at, value)
	switch {
	case b != nil:
		return b
	case !full || r.view.Open(value) != nil || r.view.Sign() != nil:
		return nil
	}
	return &r.view
}

// visitBlock hands a block over; false: it is damaged, so that its bytes made
// what reads them panic. What panics on bytes that are right is a defect, and
// goes on to the caller.
func (r *reader) visitBlock(b search.Block, later bool, visit search.Visit) (good bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if good = false; whole(b) {
				if kept, _ := b.(*index.Block); kept != nil {
					r.forget(kept.Term) // should it be that which is wrong
				}
				panic(cause)
			}
		}
	}()
	visit(b, later)
	return true
}

// whole reports whether a block's bytes are those of a block.
func whole(b search.Block) bool {
	v, kept := viewOf(b)
	if kept != nil {
		v = &kept.View
	}
	return v.Verify() == nil
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
