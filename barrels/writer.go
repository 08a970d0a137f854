package barrels

import (
	"maps"
	"slices"
	"sync/atomic"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/page"
	"adshard/barrels/record"
	"adshard/schema/pb"
	"adshard/search/words"
)

// batchWriter prepares one batch: it reads from the state before the batch and collects all
// changes. Only one goroutine may use it at a time. It reuses its buffers.
type batchWriter struct {
	base  kv.Snapshot // nil if the store is emptied first
	lists *index.ListCache
	batch kv.Batch
	// languages are those of the store's words.
	languages words.Languages

	number   uint64            // number of the state before the batch
	terms    *index.Dictionary // the terms before the batch
	parents  *index.Parents
	position *pb.Position
	slices   *pb.SliceTable
	orphans  bool // whether there may be groups that slices does not cover
	counters index.Counters
	builder  uint32
	purge    []index.Interval
	was      struct { // the stored values
		slices  *pb.SliceTable // nil if the store has none
		builder uint32
		purge   []index.Interval
	}
	// parentsOwned means that parents is the batch's own copy.
	parentsOwned bool

	frequency map[uint64]int32 // changes of document frequencies
	postings  map[uint64]int32 // changes of numbers of postings
	groups    []*groupChange
	ops       []op
	cleared   int // number of groups removed by clear
	// onStretch writes what was compared of a large group so far (ahead.writeStretch).
	onStretch func(g *groupChange) error

	pace    pacer
	blocks  blockWriter
	reader  page.Reader
	encoder page.Encoder
	data    record.Keyword
	key     []byte
	record  []byte
	value   []byte
}

// newBatchWriter returns a writer that pauses while searches are counted.
func newBatchWriter(l *index.ListCache, searches *atomic.Uint64, languages words.Languages) *batchWriter {
	return &batchWriter{lists: l, languages: languages, frequency: make(map[uint64]int32), postings: make(map[uint64]int32), pace: pacer{searches: searches}}
}

// begin starts a batch on top of a state, or with reset on an empty store.
func (w *batchWriter) begin(old *index.Snapshot, reset bool) {
	w.end()
	w.pace.begin()
	w.base, w.terms, w.parents, w.number = old.Data, old.Terms, old.Parents, old.Number
	w.position, w.slices, w.orphans = old.Position, old.Slices.Table, old.Slices.Orphans
	w.counters, w.builder, w.purge = old.Counters, old.Builder, old.Purge
	w.was.slices, w.was.builder, w.was.purge = old.Slices.Table, old.Builder, old.Purge
	if !reset {
		return
	}
	w.base, w.terms, w.parents = nil, index.NewDictionary(0), index.NewParents()
	w.slices, w.orphans, w.counters = new(pb.SliceTable), false, index.Counters{}
	w.builder, w.purge = index.AnyBuilder, nil
	w.was.slices, w.was.builder, w.was.purge = nil, index.AnyBuilder, nil
	for f := range kv.Family(kv.Families) {
		w.batch.Clear(f)
	}
	index.PutVersions(&w.batch, w.languages)
}

// keepBatch is the capacity of a batch that is kept for the next one.
const keepBatch = 64 << 20

// end drops the batch.
func (w *batchWriter) end() {
	w.pace.end()
	w.base, w.terms, w.parents, w.position, w.slices, w.was.slices = nil, nil, nil, nil, nil, nil
	w.parentsOwned, w.cleared, w.purge = false, 0, nil
	clear(w.frequency)
	clear(w.postings)
	clear(w.groups)
	clear(w.ops)
	w.groups, w.ops = w.groups[:0], w.ops[:0]
	if w.batch.Reset(); w.batch.Cap() > keepBatch {
		w.batch, w.frequency = kv.Batch{}, make(map[uint64]int32)
	}
}

// finish adds terms and metadata to the batch.
func (w *batchWriter) finish() {
	for _, term := range w.touched() {
		w.pace.yield()
		before, after := w.terms.Stats(term), w.count(term)
		w.key = kv.AppendKey(w.key[:0], term)
		switch {
		case after == before:
		case after == index.TermStats{}:
			w.batch.Delete(kv.Terms, w.key)
			w.counters.Terms--
		default:
			w.batch.PutFunc(kv.Terms, w.key, after.Append)
			if before == (index.TermStats{}) {
				w.counters.Terms++
			}
		}
	}
	w.batch.PutFunc(kv.Meta, kv.MetaCounters, w.counters.Append)
	index.PutMessage(&w.batch, kv.MetaPosition, w.position)
	if w.slices != w.was.slices { // otherwise it is stored already: a table is replaced, never changed
		index.PutMessage(&w.batch, kv.MetaSlices, w.slices)
	}
	if w.orphans {
		w.batch.Put(kv.Meta, kv.MetaOrphans, nil)
	}
	if w.builder != w.was.builder {
		index.PutBuilder(&w.batch, w.builder)
	}
	switch {
	case slices.Equal(w.purge, w.was.purge):
	case len(w.purge) == 0:
		w.batch.Delete(kv.Meta, kv.MetaPurge)
	default:
		w.batch.PutFunc(kv.Meta, kv.MetaPurge, func(dst []byte) []byte { return index.AppendIntervals(dst, w.purge) })
	}
}

// touched returns the terms with changed counts, each once, in ascending order.
func (w *batchWriter) touched() []uint64 {
	list := slices.AppendSeq(make([]uint64, 0, len(w.frequency)+len(w.postings)), maps.Keys(w.frequency))
	for term := range w.postings {
		if _, both := w.frequency[term]; !both {
			list = append(list, term)
		}
	}
	slices.Sort(list)
	return list
}

// count returns a term's counts after the batch.
func (w *batchWriter) count(term uint64) index.TermStats {
	c := w.terms.Stats(term)
	c.Frequency = uint32(max(0, int64(c.Frequency)+int64(w.frequency[term])))
	c.Postings = uint32(max(0, int64(c.Postings)+int64(w.postings[term])))
	return c
}

// Frequency implements index.Frequencies with the frequencies after the batch.
func (w *batchWriter) Frequency(term uint64) uint32 { return w.count(term).Frequency }

// applyTerms returns the table for the state after the batch. Searches of older states may go on
// reading the old one.
func (w *batchWriter) applyTerms() *index.Dictionary {
	t := w.terms
	for term := range w.frequency {
		w.pace.yield()
		t = t.Set(term, w.count(term))
	}
	for term := range w.postings {
		if _, both := w.frequency[term]; !both {
			w.pace.yield()
			t = t.Set(term, w.count(term))
		}
	}
	return t
}

// op is one posting to write, or to remove if keyword is nil.
type op struct {
	term uint64
	kv.Place
	keyword *pb.Keyword
	group   *block.Group
	form    uint8
}
