package index

import (
	"cmp"
	"slices"

	"adshard/barrels/kv"
)

// Cold returns the terms whose posting lists are not cached, those with the most postings first:
// their first searches would take longest.
func (t *Dictionary) Cold() []uint64 {
	var cold []*termEntry
	for i := range t.slots {
		s := &t.slots[i]
		if list := s.list.Load(); s.key.Load() != 0 && s.hasPostings() && (list == nil || list.state < s.changed.Load()) {
			cold = append(cold, s)
		}
	}
	slices.SortFunc(cold, func(a, b *termEntry) int { return cmp.Compare(b.info.Load(), a.info.Load()) })
	terms := make([]uint64, len(cold))
	for i, s := range cold {
		terms[i] = s.key.Load()
	}
	return terms
}

// Roomy reports whether the lists leave a quarter of their memory free, so that one more takes no
// other's place.
func (l *ListCache) Roomy() bool {
	limit := l.limit.Load()
	return l.bytes.Load() <= limit-limit/4
}

// Warm caches the list of a term as it is in a state, which the caller holds, read with an iterator
// over its postings (kv.Snapshot.Prefix). It returns false for a list that is cached already, too
// large or damaged; a search that reads a damaged one reports it.
func (l *ListCache) Warm(st *Snapshot, it kv.Iterator, term uint64) bool {
	if st.Terms.Peek(term, st.Number) != nil {
		return false
	}
	c := l.NewListBuilder(term)
	for ok := it.Seek(kv.AppendKey(nil, term, 0, 0)); ok; ok = it.Next() {
		at := kv.Place{Key: kv.KeyPart(it.Key(), 1), Keyword: kv.KeyPart(it.Key(), 2)}
		if b, _ := c.Add(term, at, it.Value()); b == nil {
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
