package barrels

import (
	"cmp"
	"slices"
	"sort"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// rewrite applies the ops to the blocks. It reads and writes each changed block only once.
func (w *batchWriter) rewrite() error {
	w.sortOps()
	if len(w.ops) == 0 {
		return nil
	}
	var it kv.Iterator
	if w.base != nil {
		it = w.base.Prefix(kv.Postings)
		defer it.Close()
	}
	for ops := w.ops; len(ops) > 0; {
		n := 1
		for n < len(ops) && ops[n].term == ops[0].term {
			n++
		}
		if err := w.term(it, ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// sortOps orders the ops by term and place. If a posting is both removed and written,
// only the write is kept.
func (w *batchWriter) sortOps() {
	slices.SortFunc(w.ops, func(a, b op) int {
		if a.term != b.term {
			return cmp.Compare(a.term, b.term)
		}
		if c := cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Place.Keyword, b.Place.Keyword)); c != 0 {
			return c
		}
		if a.keyword != nil {
			return -1
		}
		return 1
	})
	w.ops = slices.CompactFunc(w.ops, func(a, b op) bool { return a.term == b.term && a.Place == b.Place })
}

// term applies the ops of one term, block by block.
func (w *batchWriter) term(it kv.Iterator, ops []op) error {
	term := ops[0].term
	stored := int(w.terms.Stats(term).Postings)
	if it == nil {
		return w.chunk(term, nil, ops)
	}
	if stored == 0 {
		w.lists.OfferEmpty(w.terms, term, w.number)
		return w.chunk(term, nil, ops)
	}
	b := &w.blocks
	list := w.terms.Current(term, w.number)
	for len(ops) > 0 {
		var view *block.View
		var n int
		var err error
		if list != nil && len(list.Blocks) > 0 {
			view, n, err = b.cached(list, ops)
		} else {
			if view, n, err = b.stored(it, ops, stored); view != nil && view.Len() == stored {
				w.lists.OfferBlock(w.terms, term, w.number, b.first, b.value)
			}
		}
		if err != nil {
			return err
		}
		if err := w.chunk(term, view, ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// blockWriter has the buffers for rewriting blocks.
type blockWriter struct {
	view    block.View
	value   []byte // bytes of the view
	key     []byte
	first   kv.Place // place in the key of the current block
	encoder block.Encoder
	merged  []source
	words   []block.Word
}

// source is where a posting of a new block comes from: the index of an op, or −i−1 for posting i of
// the old block.
type source int

// cached returns the block that the first op belongs to, from memory, and the number of ops that
// belong to this block. It is the last block that begins at or before the op's place, or the term's
// first block if there is no such block.
func (b *blockWriter) cached(l *index.PostingList, ops []op) (view *block.View, n int, err error) {
	i := max(0, sort.Search(len(l.Blocks), func(i int) bool { return ops[0].Less(l.Place(i)) })-1)
	at := l.Blocks[i].Load()
	b.first, n = at.Place, len(ops)
	if i+1 < len(l.Blocks) {
		n = ownOps(ops, l.Place(i+1))
	}
	if err := at.View.Check(); err != nil {
		return nil, 0, kv.Damaged("block", err)
	}
	return &at.View, n, nil
}

// ownOps returns how many of the ops come before the place `next`, at which the next block begins.
func ownOps(ops []op, next kv.Place) (n int) {
	for n < len(ops) && ops[n].Less(next) {
		n++
	}
	return n
}

// stored does the same as cached, but from the store, in which the term has the given number of
// postings. view is nil if the term has no block.
func (b *blockWriter) stored(it kv.Iterator, ops []op, postings int) (view *block.View, n int, err error) {
	found, err := b.load(it, ops[0].term, ops[0].Place, postings)
	if err != nil || !found {
		return nil, len(ops), err
	}
	if n = len(ops); n > 1 && b.view.Len() < postings && it.Next() { // there are more blocks
		n = ownOps(ops, kv.Place{Key: kv.KeyPart(it.Key(), 1), Keyword: kv.KeyPart(it.Key(), 2)})
	}
	return &b.view, n, it.Err()
}

// load reads the block that a place belongs to. It returns false if the term has no block.
func (b *blockWriter) load(it kv.Iterator, term uint64, at kv.Place, postings int) (found bool, err error) {
	b.key = kv.AppendKey(b.key[:0], term, 0, 0)
	if postings <= block.Target { // probably one block, and seeking forward is cheaper
		if !it.Seek(b.key) {
			return false, it.Err()
		}
		if err := b.open(it); err != nil || b.view.Len() >= postings {
			return err == nil, err
		}
	}
	b.key = kv.AppendKey(b.key[:0], term, at.Key, at.Keyword)
	if !it.SeekBack(b.key) && !it.Seek(kv.AppendKey(b.key[:0], term, 0, 0)) {
		return false, it.Err()
	}
	return true, b.open(it)
}

// open copies and opens the block at which the iterator stands.
func (b *blockWriter) open(it kv.Iterator) error {
	b.first = kv.Place{Key: kv.KeyPart(it.Key(), 1), Keyword: kv.KeyPart(it.Key(), 2)}
	b.value = append(b.value[:0], it.Value()...)
	if err := b.view.Open(b.value); err != nil {
		return kv.Damaged("block", err)
	}
	if err := b.view.Check(); err != nil {
		return kv.Damaged("block", err)
	}
	return nil
}

// chunk merges ops into a block, or into none if view is nil, and writes the resulting blocks.
func (w *batchWriter) chunk(term uint64, view *block.View, ops []op) error {
	w.pace.yield()
	b := &w.blocks
	b.merge(view, ops)
	old := 0
	if view != nil {
		old = view.Len()
		w.counters.Blocks--
	}
	if by := len(b.merged) - old; by != 0 {
		w.postings[term] += int32(by)
		w.counters.Postings += int64(by)
	}
	kept := false
	for rest := b.merged; len(rest) > 0; {
		n := block.Fill(len(rest))
		first := b.encode(view, ops, rest[:n])
		if view != nil && len(rest) == len(b.merged) && !first.Less(b.first) {
			first = b.first
		}
		kept = kept || first == b.first // another piece may begin there as well
		w.batch.PutFunc(kv.Postings, kv.AppendKey(b.key[:0], term, first.Key, first.Keyword), b.encoder.Append)
		w.counters.Blocks++
		rest = rest[n:]
	}
	if view != nil && !kept {
		w.batch.Delete(kv.Postings, kv.AppendKey(b.key[:0], term, b.first.Key, b.first.Keyword))
	}
	return nil
}

// merge lists the postings that a block has after the ops.
func (b *blockWriter) merge(view *block.View, ops []op) {
	b.merged = b.merged[:0]
	n, i := 0, 0
	if view != nil {
		n = view.Len()
	}
	old := func(end int) {
		for ; i < end; i++ {
			b.merged = append(b.merged, source(-i-1))
		}
	}
	for o := range ops {
		old(i + sort.Search(n-i, func(j int) bool { return !viewPlace(view, i+j).Less(ops[o].Place) }))
		if i < n && viewPlace(view, i) == ops[o].Place {
			i++
		}
		if ops[o].keyword != nil {
			b.merged = append(b.merged, source(o))
		}
	}
	old(n)
}

func viewPlace(v *block.View, i int) kv.Place {
	key, keyword := v.Key(i)
	return kv.Place{Key: key, Keyword: keyword}
}

// encode encodes the listed postings and returns the place of the first one.
func (b *blockWriter) encode(view *block.View, ops []op, list []source) (first kv.Place) {
	if s := list[0]; s < 0 {
		first = viewPlace(view, int(-s-1))
	} else {
		first = ops[s].Place
	}
	b.encoder.Reset()
	for len(list) > 0 {
		n := 1
		if s := list[0]; s >= 0 {
			e := ops[s].entry(b.words[:0])
			b.words = e.Words
			b.encoder.Add(&e)
		} else {
			for n < len(list) && list[n] == s-source(n) {
				n++
			}
			b.encoder.Copy(view, int(-s-1), int(-s-1)+n)
		}
		list = list[n:]
	}
	return first
}
