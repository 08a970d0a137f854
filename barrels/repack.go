package barrels

import (
	"slices"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// repack looks at the blocks from cursor on and joins neighbouring blocks of a term that fit into
// one. It returns where to continue, or nil at the end.
func (s *barrel) repack(st *index.Snapshot, cursor []byte) (next []byte, err error) {
	it := st.Data.Full(kv.Postings)
	defer it.Close()
	s.writer.begin(st, false)
	var r joiner
	ok := it.Seek(cursor)
	clock := stepClock{pace: &s.writer.pace}
	for late := false; ok; ok = it.Next() {
		if late = late || clock.over(); late && kv.KeyPart(it.Key(), 0) != r.term {
			break // between two terms
		}
		r.add(s.writer, it.Key(), it.Value)
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	r.flush(s.writer)
	if ok {
		next = slices.Clone(it.Key())
	}
	return next, s.settled(st)
}

// joiner collects neighbouring blocks of one term as long as they fit into one.
type joiner struct {
	term  uint64
	keys  [][]byte
	views []*block.View
	size  int
}

// add adds a block. A damaged block stays as it is, and no blocks are joined across it. Searches
// count and report it.
func (j *joiner) add(w *batchWriter, key []byte, value func() []byte) {
	if kv.KeyPart(key, 0) != j.term || len(j.keys) == 0 {
		j.flush(w)
		j.term = kv.KeyPart(key, 0)
	}
	if w.terms.Stats(j.term).Postings <= 1 {
		return
	}
	v := new(block.View)
	if v.Open(slices.Clone(value())) != nil || v.Check() != nil {
		j.flush(w)
		return
	}
	if j.size+v.Len() > block.Target {
		j.flush(w)
	}
	j.keys, j.views = append(j.keys, slices.Clone(key)), append(j.views, v)
	j.size += v.Len()
}

// flush writes the collected blocks as one block, if there are several.
func (j *joiner) flush(w *batchWriter) {
	if len(j.keys) > 1 {
		e := &w.blocks.encoder
		e.Reset()
		for _, v := range j.views {
			e.Copy(v, 0, v.Len())
		}
		for _, key := range j.keys[1:] {
			w.batch.Delete(kv.Postings, key)
		}
		w.batch.PutFunc(kv.Postings, j.keys[0], e.Append)
		w.counters.Blocks -= int64(len(j.keys) - 1)
	}
	j.keys, j.views, j.size = j.keys[:0], j.views[:0], 0
}
