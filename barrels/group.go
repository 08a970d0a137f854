package barrels

import (
	"bytes"
	"math"
	"slices"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
)

// groupChange is the change of one group by a batch.
type groupChange struct {
	key      uint64
	head     *block.Group // nil if the group is removed
	item     *pb.Item     // the batch's item; nil if the group is removed or only its anchors change
	added    bool         // whether there was no such group before the batch
	keywords []*keyword   // all keywords after the batch, by ascending id
	pages    []oldPage    // the pages before the batch
	compared int          // number of keywords compared, before and after the batch
	turned   int          // number of keywords compared before the last stretch was written
}

// keyword is a keyword of a changed group.
type keyword struct {
	id      uint64
	pb      *pb.Keyword
	anchors []uint64 // one for each form; nil if not chosen yet
}

// oldPage is a page as stored before the batch.
type oldPage struct {
	first    uint64 // keyword id in its key
	checksum uint64
}

// group prepares the replacement of a group by an item, or its removal if the item is nil.
func (w *batchWriter) group(key uint64, it *pb.Item, parts Parts) error {
	w.pace.yield()
	old, raw, err := w.stored(key)
	if old != nil {
		defer old.Close()
	}
	exists := raw != nil
	if err != nil || !exists && it == nil {
		return err
	}
	g := &groupChange{key: key}
	moved := false // whether the part of the group that postings repeat has changed
	w.key = kv.AppendKey(w.key[:0], key, kv.GroupRecord)
	if it == nil {
		w.batch.Delete(kv.Items, w.key)
		w.counters.Groups--
	} else {
		head := record.Head(it.Group)
		g.head, g.item, g.added = &head, it, !exists
		if moved, err = w.putGroup(it.Group, &head, raw, exists); err != nil {
			return err
		}
	}
	w.groups = append(w.groups, g)
	if !exists {
		old = nil
	}
	return w.diff(g, newIncoming(it, parts), moved, old)
}

// stored returns a group's stored record, which is valid until the iterator moves, and the iterator
// at that record; the group's pages follow. The record is nil if there is no such group. The caller
// closes the iterator unless it is nil.
func (w *batchWriter) stored(key uint64) (it kv.Iterator, record []byte, err error) {
	if w.base == nil {
		return nil, nil, nil
	}
	it = w.base.Prefix(kv.Items)
	w.key = kv.AppendKey(w.key[:0], key, kv.GroupRecord)
	if !it.Seek(w.key) || kv.KeyPart(it.Key(), 1) != kv.GroupRecord {
		return it, nil, it.Err()
	}
	return it, it.Value(), nil
}

// putGroup writes a group's record if it differs from the stored one, and reports
// whether what postings say of the group has changed.
func (w *batchWriter) putGroup(g *pb.Group, head *block.Group, raw []byte, exists bool) (moved bool, err error) {
	if w.record, err = record.Marshal.MarshalAppend(w.record[:0], g); err != nil {
		return false, fault.New(fault.Invalid, "barrels: apply", err)
	}
	if !exists {
		w.counters.Groups++
	} else if bytes.Equal(w.record, raw) {
		return false, nil
	}
	w.batch.Put(kv.Items, w.key, w.record)
	if !exists {
		return true, nil
	}
	old, err := record.ReadHead(g.Key, raw)
	if err != nil {
		return false, kv.Damaged("group", err)
	}
	return old != *head, nil
}

// get reads a value as it was before the batch. The value is valid until the next call.
func (w *batchWriter) get(f kv.Family, key []byte) (value []byte, ok bool, err error) {
	if w.base == nil {
		return nil, false, nil
	}
	w.value, ok, err = w.base.Get(f, key, w.value[:0])
	return w.value, ok, err
}

// diff compares a group's keywords with its stored pages, both by ascending id. stored is nil for a
// new group.
func (w *batchWriter) diff(g *groupChange, in *incoming, moved bool, stored kv.Iterator) error {
	g.keywords = make([]*keyword, 0, len(in.list))
	add := func(old *record.Keyword) {
		k := in.pop()
		g.keywords = append(g.keywords, k)
		w.keyword(g, k, old, moved)
	}
	// before adds the keywords with ids below id.
	before := func(id uint64) error {
		for {
			if more, err := in.more(); err != nil || !more || in.list[0].Id >= id {
				return err
			}
			if err := w.room(g); err != nil {
				return err
			}
			add(nil)
		}
	}
	if stored != nil {
		err := w.pages(g, stored, func(old *record.Keyword) error {
			if err := before(old.ID); err != nil {
				return err
			}
			if len(in.list) > 0 && in.list[0].Id == old.ID {
				add(old)
			} else {
				w.remove(g, old)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return before(math.MaxUint64)
}

// pages visits the keywords of the group's pages, starting at the iterator's position. Each keyword
// is valid only during the visit.
func (w *batchWriter) pages(g *groupChange, it kv.Iterator, visit func(*record.Keyword) error) error {
	for it.Next() {
		if err := w.room(g); err != nil {
			return err
		}
		value := it.Value()
		if err := w.reader.Open(value); err != nil {
			return kv.Damaged("keyword page", err)
		}
		g.pages = append(g.pages, oldPage{kv.KeyPart(it.Key(), 1), page.Checksum(value)})
		for {
			k, err := w.reader.Next()
			if err != nil {
				return kv.Damaged("keyword page", err)
			}
			if k == nil {
				break
			}
			if !k.Sound() {
				return kv.Damaged("keyword", page.ErrDamaged)
			}
			if err := visit(k); err != nil {
				return err
			}
		}
	}
	return it.Err()
}

// keyword prepares a keyword of the group's new content. old is its stored version, or nil if there
// is none.
func (w *batchWriter) keyword(g *groupChange, k *keyword, old *record.Keyword, moved bool) {
	w.pace.yield()
	g.compared++
	k.id = k.pb.Id
	if old == nil {
		w.counters.Keywords++
		w.countMessage(k.pb, +1)
		return
	}
	same := old.Equal(k.pb)
	if same || old.HasForms(k.pb, false) {
		k.anchors = slices.Clone(old.Anchors)
		if moved || !same {
			w.write(g, k)
		}
		return
	}
	w.countData(old, -1)
	w.countMessage(k.pb, +1)
	w.unwrite(g.key, old)
}

// remove prepares the removal of a keyword.
func (w *batchWriter) remove(g *groupChange, old *record.Keyword) {
	g.compared++
	w.counters.Keywords--
	w.countData(old, -1)
	w.unwrite(g.key, old)
}

// countMessage changes the frequencies of a keyword's terms by the given number.
func (w *batchWriter) countMessage(k *pb.Keyword, by int32) {
	for _, f := range k.Forms {
		w.countForm(f.Terms, by)
	}
}

func (w *batchWriter) countData(k *record.Keyword, by int32) {
	for i := range k.Forms {
		w.countForm(k.Forms[i].Terms, by)
	}
}

// countForm changes the frequency of each distinct term of a form.
func (w *batchWriter) countForm(terms []uint64, by int32) {
	for i, t := range terms {
		if !slices.Contains(terms[:i], t) {
			w.frequency[t] += by
		}
	}
}

// write adds the postings of a keyword at its anchors.
func (w *batchWriter) write(g *groupChange, k *keyword) {
	for f, term := range k.anchors {
		w.ops = append(w.ops, op{term: term, Place: kv.Place{Key: g.key, Keyword: k.id}, keyword: k.pb, group: g.head, form: uint8(f)})
	}
}

// unwrite removes the postings of a keyword.
func (w *batchWriter) unwrite(key uint64, old *record.Keyword) {
	for _, term := range old.Anchors {
		w.ops = append(w.ops, op{term: term, Place: kv.Place{Key: key, Keyword: old.ID}})
	}
}

// anchor chooses the missing anchors of a group's keywords, now that the batch's frequencies are
// known, and writes the postings.
func (w *batchWriter) anchor(g *groupChange) {
	for _, k := range g.keywords {
		if k.anchors != nil {
			continue
		}
		w.pace.yield()
		k.anchors = make([]uint64, len(k.pb.Forms))
		for i, f := range k.pb.Forms {
			k.anchors[i] = index.Rarest(w, f.Terms)
		}
		w.write(g, k)
	}
}

// entry returns what an op writes. It appends to words, a reused buffer.
func (o *op) entry(words []block.Word) block.Entry {
	k, form := o.keyword, o.keyword.Forms[o.form]
	for i, t := range form.Terms {
		words = append(words, block.Word{Norm: k.Norm[i], Fold: k.Fold[i], Term: t})
	}
	e := block.Entry{
		Group: o.group, Keyword: k.Id, Bid: k.GetBid(), Type: uint8(k.Type), Quality: uint8(k.Quality),
		Flags: keywordFlags(k), Words: words,
	}
	if o.form > 0 {
		e.Flags |= block.Later
	}
	return e
}

// keywordFlags returns the flags of a keyword's first form.
func keywordFlags(k *pb.Keyword) (flags uint8) {
	if k.Enabled {
		flags |= block.Enabled
	}
	if k.Bid != nil {
		flags |= block.HasBid
	}
	if len(k.Forms) > 1 {
		flags |= block.Several
	}
	return flags
}
