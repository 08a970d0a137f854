package query

import (
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/search"
)

// postings finds the posting lists of a query's terms.
type postings struct {
	*scope
	it   kv.Iterator // opened on first use
	view block.View  // a block that is not cached
	key  []byte
	// terms are the terms of the query, and lists what is known of each.
	terms []search.QueryTerm
	lists []foundList
	// reading is the term whose blocks are being read from the snapshot.
	reading uint64
}

// foundList is what the dictionary knows of a term of the query.
type foundList struct {
	anchors bool               // whether postings may be anchored at it
	list    *index.PostingList // nil if not cached
}

func (p *postings) close() {
	if p.it != nil {
		p.it.Close()
	}
	p.it, p.view, p.terms = nil, block.View{}, nil
	clear(p.lists)
}

// find looks up a query's terms, and appends to `known`, in ascending order, the indexes of those
// that some keyword may have. Each step touches the same data of all terms before the next step
// needs them, so that memory accesses overlap.
func (p *postings) find(terms []search.QueryTerm, known []int32) []int32 {
	p.terms, p.lists = terms, p.lists[:0]
	t := p.state.Terms
	for i := range terms {
		p.touched |= t.Touch(terms[i].Term)
	}
	for i := range terms {
		found, anchors, list := t.Lookup(terms[i].Term, p.state.Number)
		if found {
			known = append(known, int32(i))
		}
		p.lists = append(p.lists, foundList{anchors, list})
	}
	for i := range p.lists {
		if l := p.lists[i].list; l != nil {
			p.touched |= l.State()
		}
	}
	for i := range p.lists {
		if l := p.lists[i].list; l != nil && len(l.Blocks) > 0 {
			p.touched |= uint64(l.Blocks[0].Load().Postings)
		}
	}
	for i := range p.lists {
		if l := p.lists[i].list; l != nil && len(l.Blocks) > 0 {
			p.touch(l.Blocks[0].Load())
		}
	}
	return known
}

// touch prefetches what a visit of a block reads first.
func (p *postings) touch(b *index.Block) {
	if s := b.Signatures(); len(s) > 0 {
		p.touched |= uint64(s[0])
	}
	if j := b.Impacts[p.request.Device].Load(); j != nil {
		p.touched |= j.Reach
	}
}

// seek moves to the first block of a term in the snapshot.
func (p *postings) seek(term uint64) bool {
	if p.it == nil {
		p.it = p.state.Data.Prefix(kv.Postings)
	}
	p.reading = term
	p.key = kv.AppendKey(p.key[:0], term, 0, 0)
	return p.it.Seek(p.key)
}

// open opens the block at the iterator. If c has room, the block will be cached, otherwise it uses
// the scratch view. It returns false if the block is damaged.
func (p *postings) open(c *index.ListBuilder) (blockRef, bool) {
	at := kv.Place{Key: kv.KeyPart(p.it.Key(), 1), Keyword: kv.KeyPart(p.it.Key(), 2)}
	b, full := c.Add(p.reading, at, p.it.Value())
	switch {
	case b != nil:
		return refOf(b), true
	case !full || p.view.Open(p.it.Value()) != nil || p.view.Sign() != nil:
		return blockRef{}, false
	}
	return blockRef{view: &p.view}, true
}

// uncache drops the cached list of a term. The store's copy may be undamaged.
func (p *postings) uncache(term uint64) { p.caches.Lists.Drop(p.state.Terms, term) }
