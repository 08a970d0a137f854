package index

import (
	"slices"
	"testing"
)

// TestColdLists: the terms with the most postings come first. Terms without postings, or with a
// list that is still valid, are left out; a term whose list was replaced since is not.
func TestColdLists(t *testing.T) {
	d := NewDictionary(8)
	for term, postings := range []uint32{1: 7, 2: 0, 3: 900, 4: 40, 5: 3, 6: 8, 7: 1_000_000} {
		if term > 0 {
			d = d.Set(uint64(term), TermStats{Frequency: 1000, Postings: postings})
		}
	}
	cached := func(term, read, changed uint64) {
		e := d.entry(term)
		e.list.Store(&PostingList{state: read})
		e.changed.Store(changed)
	}
	cached(4, 6, 5)
	cached(1, 4, 5)
	if got, want := NewListCache(1<<20).Cold(d), []uint64{3, 6, 1, 5}; !slices.Equal(got, want) {
		t.Errorf("cold are %v, want %v", got, want)
	}
}
