package index

import (
	"cmp"
	"slices"

	"adshard/barrels/kv"
)

// postingBytes is about the least memory that a cached posting takes, including its share of the
// block.
const postingBytes = 40

// Cold returns the terms whose posting lists are not cached, those with the most postings first,
// since their first searches would take longest. It leaves out lists too large for the cache.
func (l *ListCache) Cold(t *Dictionary) []uint64 {
	most := uint64(max(0, l.MaxBytes()) / postingBytes)
	var cold []*termEntry
	for i := range t.slots {
		s := &t.slots[i]
		if n := s.postings(); s.key.Load() == 0 || n == 0 || n > most {
			continue
		}
		if list := s.list.Load(); list == nil || list.state < s.changed.Load() {
			cold = append(cold, s)
		}
	}
	slices.SortFunc(cold, func(a, b *termEntry) int { return cmp.Compare(b.postings(), a.postings()) })
	terms := make([]uint64, len(cold))
	for i, s := range cold {
		terms[i] = s.key.Load()
	}
	return terms
}

// postings returns the number of postings anchored at the term.
func (s *termEntry) postings() uint64 { return uint64(statsOf(s.info.Load()).Postings) }

// Warm caches the list of a term in a state, which the caller holds. It reads the list with an
// iterator over its postings (kv.Snapshot.Prefix). It gives up if less than a quarter of the lists'
// memory would remain free, or if `over` returns true between two blocks. It returns false if it
// did not cache the list, or the list was cached already. It does not report damage; a search that
// reads the list does.
func (l *ListCache) Warm(st *Snapshot, it kv.Iterator, term uint64, over func() bool) bool {
	if st.Terms.Peek(term, st.Number) != nil {
		return false
	}
	limit := l.limit.Load()
	c := ListBuilder{room: max(0, int(min(l.MaxBytes(), limit-limit/4-l.bytes.Load()))-listOverhead)}
	for ok := it.Seek(kv.AppendKey(nil, term, 0, 0)); ok; ok = it.Next() {
		at := kv.Place{Key: kv.KeyPart(it.Key(), 1), Keyword: kv.KeyPart(it.Key(), 2)}
		if b, _ := c.Add(term, at, it.Value()); b == nil || over() {
			return false
		}
	}
	list := c.List(st.Number)
	if it.Err() != nil || list == nil {
		return false
	}
	l.Put(st.Terms, term, list)
	return true
}
