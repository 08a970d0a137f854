package index

import (
	"cmp"
	"slices"

	"adshard/barrels/kv"
)

// postingBytes is about the least that a cached posting takes, its block's share included.
const postingBytes = 40

// Cold returns the terms whose posting lists are not cached, those with the most postings first:
// their first searches would take longest. Lists too large for the cache are left out.
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

// postings is the number of postings anchored at the term.
func (s *termEntry) postings() uint64 { return uint64(statsOf(s.info.Load()).Postings) }

// Warm caches the list of a term as it is in a state, which the caller holds, read with an iterator
// over its postings (kv.Snapshot.Prefix), unless it would leave less than a quarter of the lists'
// memory free or over says so between two blocks. It returns false for a list that is not cached
// then, and for one that was; a search that reads a damaged one reports it.
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
