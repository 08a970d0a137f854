package barrels

import (
	"cmp"
	"slices"

	"adshard/barrels/block"

	"golang.org/x/sync/errgroup"
)

// writeItems chooses the anchors, writes groups and pages by rising key and
// hands the postings to the partitions.
func (b *Bulk) writeItems(p *partitions, workers int) error {
	slices.SortFunc(b.groups, func(x, y spilled) int { return cmp.Compare(x.key, y.key) })
	for i := 1; i < len(b.groups); i++ {
		if b.groups[i].key == b.groups[i-1].key {
			return invalid("the group with key %x was added twice", b.groups[i].key)
		}
	}
	var g errgroup.Group
	for i := range workers {
		part := b.groups[len(b.groups)*i/workers : len(b.groups)*(i+1)/workers]
		g.Go(func() error {
			run, err := b.runs.Run(Items)
			if err != nil {
				return err
			}
			w := itemWriter{bulk: b, run: run, out: p.writer()}
			for _, s := range part {
				if err := w.item(s); err != nil {
					return err
				}
			}
			if err := w.out.flush(); err != nil {
				return err
			}
			return run.Close()
		})
	}
	return g.Wait()
}

// itemWriter is one worker's state.
type itemWriter struct {
	bulk     *Bulk
	run      Run
	out      *partitionWriter
	raw      []byte
	key      []byte
	value    []byte
	keywords []keyword
	list     []*keyword
}

func (w *itemWriter) item(s spilled) error {
	w.raw = slices.Grow(w.raw[:0], s.size)[:s.size]
	if _, err := w.bulk.spill.file.ReadAt(w.raw, s.at); err != nil {
		return spillError(err)
	}
	it := openItem(w.raw)
	w.key = appendKey(w.key[:0], s.key, groupRecord)
	if err := w.run.Add(w.key, it.record); err != nil {
		return err
	}
	w.keywords = slices.Grow(w.keywords[:0], it.count)[:it.count]
	w.list = w.list[:0]
	for i := range w.keywords {
		k := it.next()
		w.keywords[i] = keyword{id: k.id, record: k.record, anchors: w.keywords[i].anchors[:0]}
		w.list = append(w.list, &w.keywords[i])
		for form := range k.forms {
			term := w.rarest(&k, form)
			w.keywords[i].anchors = append(w.keywords[i].anchors, term)
			if err := w.out.add(term, s.key, it.head, &k, form); err != nil {
				return err
			}
		}
	}
	return w.pages(s.key)
}

// rarest is writer.rarest on the bytes of the temporary file.
func (w *itemWriter) rarest(k *spilledKeyword, form int) uint64 {
	best := k.hash(2+form, 0)
	if k.words == 1 {
		return best
	}
	least := w.bulk.terms.count(best).frequency
	for i := 1; i < k.words; i++ {
		t := k.hash(2+form, i)
		n := w.bulk.terms.count(t).frequency
		if n < least || n == least && t < best {
			best, least = t, n
		}
	}
	return best
}

func (w *itemWriter) pages(key uint64) error {
	for list := w.list; len(list) > 0; {
		n := pageLen(len(list))
		w.key = appendKey(w.key[:0], key, list[0].id)
		w.value = appendPage(w.value[:0], list[:n])
		if err := w.run.Add(w.key, w.value); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// writeBlocks turns each partition into blocks, one after the other by rising
// term.
func (b *Bulk) writeBlocks(p *partitions, workers int) error {
	var g errgroup.Group
	g.SetLimit(workers)
	for i := range p.files {
		g.Go(func() error {
			run, err := b.runs.Run(Postings)
			if err != nil {
				return err
			}
			w := blockBuilder{bulk: b, run: run}
			if err := w.partition(p.files[i]); err != nil {
				return err
			}
			return run.Close()
		})
	}
	return g.Wait()
}

// blockBuilder is one worker's state.
type blockBuilder struct {
	bulk    *Bulk
	run     Run
	encoder block.Encoder
	words   []block.Word
	key     []byte
	value   []byte
}

func (w *blockBuilder) partition(f *partitionFile) error {
	raw, index, err := f.load()
	if err != nil {
		return err
	}
	slices.SortFunc(index, func(x, y entryAt) int {
		return cmp.Or(cmp.Compare(x.term, y.term), cmp.Compare(x.key, y.key), cmp.Compare(x.keyword, y.keyword))
	})
	for len(index) > 0 {
		n := 1
		for n < len(index) && index[n].term == index[0].term {
			n++
		}
		if err := w.term(raw, index[:n]); err != nil {
			return err
		}
		index = index[n:]
	}
	return nil
}

// term writes the blocks of one term.
func (w *blockBuilder) term(raw []byte, list []entryAt) error {
	term, postings, blocks := list[0].term, len(list), 0
	for len(list) > 0 {
		n := pieceLen(len(list))
		w.encoder.Reset()
		for _, e := range list[:n] {
			entry, head := readEntry(raw[e.at:], w.words[:0])
			entry.Group, w.words = &head, entry.Words
			w.encoder.Add(&entry)
		}
		w.key = appendKey(w.key[:0], term, list[0].key, list[0].keyword)
		w.value = w.encoder.Append(w.value[:0])
		if err := w.run.Add(w.key, w.value); err != nil {
			return err
		}
		blocks++
		list = list[n:]
	}
	w.bulk.anchored(term, postings, blocks)
	return nil
}

// anchored notes how many postings and blocks a term has.
func (b *Bulk) anchored(term uint64, postings, blocks int) {
	b.tally.Lock()
	defer b.tally.Unlock()
	c := b.terms.count(term)
	c.postings = uint32(postings)
	b.terms.set(term, c) // it is there: its place does not change
	b.counters.postings += int64(postings)
	b.counters.blocks += int64(blocks)
}

// writeTerms writes the terms in order.
func (b *Bulk) writeTerms() error {
	run, err := b.runs.Run(Terms)
	if err != nil {
		return err
	}
	terms := make([]uint64, 0, b.terms.used)
	for i := range b.terms.slots {
		if t := b.terms.slots[i].key.Load(); t != 0 {
			terms = append(terms, t)
		}
	}
	slices.Sort(terms)
	b.counters.terms = int64(len(terms))
	var key, value []byte
	for _, t := range terms {
		key, value = appendKey(key[:0], t), b.terms.count(t).append(value[:0])
		if err := run.Add(key, value); err != nil {
			return err
		}
	}
	return run.Close()
}
