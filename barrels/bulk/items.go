package bulk

import (
	"cmp"
	"slices"

	"golang.org/x/sync/errgroup"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/record"
)

// writeItems chooses the anchors, writes groups and pages by ascending key, and passes the postings
// to the partitions.
func (b *Builder) writeItems(p *partitions, workers int) error {
	slices.SortFunc(b.groups, func(x, y spilled) int { return cmp.Compare(x.key, y.key) })
	for i := 1; i < len(b.groups); i++ {
		if b.groups[i].key == b.groups[i-1].key {
			return record.Invalid("the group with key %x was added twice", b.groups[i].key)
		}
	}
	var g errgroup.Group
	for i := range workers {
		part := b.groups[len(b.groups)*i/workers : len(b.groups)*(i+1)/workers]
		g.Go(func() error {
			run, err := b.runs.Run(kv.Items)
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
	bulk    *Builder
	run     kv.Run
	out     *partitionWriter
	raw     []byte
	key     []byte
	value   []byte
	keyword spilledKeyword
	first   uint64 // id of the page's first keyword
	encoder page.Encoder
}

func (w *itemWriter) item(s spilled) error {
	w.raw = slices.Grow(w.raw[:0], s.size)[:s.size]
	if _, err := w.bulk.spill.file.ReadAt(w.raw, s.at); err != nil {
		return spillError(err)
	}
	it := openItem(w.raw)
	w.key = kv.AppendKey(w.key[:0], s.key, kv.GroupRecord)
	if err := w.run.Add(w.key, it.record); err != nil {
		return err
	}
	w.encoder.Reset()
	for left := it.count; left > 0; {
		n := page.Fill(left)
		for i := range n {
			k := &w.keyword
			if it.next(k); i == 0 {
				w.first = k.ID
			}
			for form := range k.Forms {
				term := index.Rarest(w.bulk.terms, k.Forms[form].Terms)
				k.Anchors = append(k.Anchors, term)
				if err := w.out.add(term, s.key, it.head, &k.Keyword, form); err != nil {
					return err
				}
			}
			w.encoder.Add(&k.Keyword)
		}
		if err := w.page(s.key); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// page writes a page of the keywords collected so far.
func (w *itemWriter) page(key uint64) error {
	w.key = kv.AppendKey(w.key[:0], key, w.first)
	w.value = w.encoder.Append(w.value[:0])
	w.encoder.Reset()
	return w.run.Add(w.key, w.value)
}

// writeBlocks turns each partition into blocks, and writes the partitions by ascending term.
func (b *Builder) writeBlocks(p *partitions, workers int) error {
	var g errgroup.Group
	g.SetLimit(workers)
	for i := range p.files {
		g.Go(func() error {
			run, err := b.runs.Run(kv.Postings)
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
	bulk    *Builder
	run     kv.Run
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
		n := block.Fill(len(list))
		w.encoder.Reset()
		for _, e := range list[:n] {
			entry, head := readEntry(raw[e.at:], w.words[:0])
			entry.Group, w.words = &head, entry.Words
			w.encoder.Add(&entry)
		}
		w.key = kv.AppendKey(w.key[:0], term, list[0].key, list[0].keyword)
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

// anchored records the number of postings and blocks of a term.
func (b *Builder) anchored(term uint64, postings, blocks int) {
	b.counting.Lock()
	defer b.counting.Unlock()
	c := b.terms.Stats(term)
	c.Postings = uint32(postings)
	b.terms.Set(term, c) // the term is there already, so its place does not change
	b.counters.Postings += int64(postings)
	b.counters.Blocks += int64(blocks)
}

// writeTerms writes the terms in order.
func (b *Builder) writeTerms() error {
	run, err := b.runs.Run(kv.Terms)
	if err != nil {
		return err
	}
	terms := b.terms.Terms()
	b.counters.Terms = int64(len(terms))
	var key, value []byte
	for _, t := range terms {
		key, value = kv.AppendKey(key[:0], t), b.terms.Stats(t).Append(value[:0])
		if err := run.Add(key, value); err != nil {
			return err
		}
	}
	return run.Close()
}
