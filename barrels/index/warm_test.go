package index

import (
	"slices"
	"testing"
)

// TestColdLists: those with the most postings come first; terms without postings and with a list that
// still holds are left out, one whose list was replaced since is not.
func TestColdLists(t *testing.T) {
	d := NewDictionary(8)
	for term, postings := range []uint32{1: 7, 2: 0, 3: 900, 4: 40, 5: 3, 6: 8} {
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
	if got, want := d.Cold(), []uint64{3, 6, 1, 5}; !slices.Equal(got, want) {
		t.Errorf("cold are %v, want %v", got, want)
	}
}

// TestRoomy: warming ends before a list would take another's place.
func TestRoomy(t *testing.T) {
	l := NewListCache(4000)
	for bytes, want := range map[int64]bool{0: true, 3000: true, 3001: false, 4000: false} {
		l.bytes.Store(bytes)
		if got := l.Roomy(); got != want {
			t.Errorf("with %d of 4,000 bytes: %v", bytes, got)
		}
	}
}
