package index

import (
	"slices"
	"testing"

	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/search"
)

// TestLongestListsFirst: the longest lists come first, and the store is read in its order.
func TestLongestListsFirst(t *testing.T) {
	d := NewDictionary(2 * longest)
	for i := range uint64(2 * longest) {
		d = d.Set(i+1, TermStats{Frequency: 1, Postings: 1 + uint32(i)/longest})
	}
	got := NewListCache(alone(1 << 20)).Cold(d)
	if len(got) != 2*longest || got[0] != longest+1 || got[longest] != 1 || !slices.IsSorted(got[:longest]) || !slices.IsSorted(got[longest:]) {
		t.Errorf("of %d lists, cold are %v", 2*longest, got)
	}
}

// TestColdLists: cold terms are in ascending order; if there is no room for all, they are those with the
// most postings. Terms without postings, or with a list that is still valid, are left out; a term whose
// list was replaced since is not.
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
	l := NewListCache(alone(1 << 20))
	for used, want := range map[int64][]uint64{0: {1, 3, 5, 6}, 1<<20 - 1<<18 - 900*postingBytes - 400: {3, 6}, 1 << 20: nil} {
		l.bytes.Store(used)
		if got := l.Cold(d); !slices.Equal(got, want) {
			t.Errorf("with %d bytes used, cold are %v, want %v", used, got, want)
		}
	}
}

// TestWarmer: lists are cached whole and in one pass, whichever terms are left out in between; those of
// terms without blocks are not.
func TestWarmer(t *testing.T) {
	const terms = 20 * nearBlocks
	for _, step := range []uint64{1, 3, 2 * nearBlocks} {
		db, d := memory.NewDB(), NewDictionary(terms)
		var b kv.Batch
		for term := uint64(1); term <= terms; term++ {
			d = d.Set(term, TermStats{Frequency: 1, Postings: 1})
			for i := range term % 4 {
				b.Put(kv.Postings, kv.AppendKey(nil, term, i, 0), blockValue(term))
			}
		}
		if err := db.Write(&b); err != nil {
			t.Fatal(err)
		}
		st := &Snapshot{Data: Share(db.Snapshot()), Terms: d}
		w := NewListCache(alone(4 << 20)).Warmer(st)
		for term := uint64(1); term <= terms; term += step {
			blocks := int(term % 4)
			if warmed := w.Warm(term, func() bool { return false }); warmed != (blocks > 0) {
				t.Errorf("every %d terms: term %d with %d blocks is cached: %v", step, term, blocks, warmed)
			}
			if list := d.Peek(term, 0); blocks > 0 && (list == nil || len(list.Blocks) != blocks) {
				t.Errorf("every %d terms: of the %d blocks of term %d, %v is cached", step, blocks, term, list)
			}
		}
		w.Close()
		st.Data.release()
	}
}

// TestUnreadyLists: lists that were used come first, then the longest. Those whose blocks are prepared and have impacts, or need none, are
// left out, and so are lists that have changed since; with little room there are none.
func TestUnreadyLists(t *testing.T) {
	d := NewDictionary(8)
	st := &Snapshot{Number: 5, Terms: d, Parents: NewParents(), Slices: NewSlices("", nil, false)}
	for term := uint64(1); term <= 6; term++ {
		st.Terms = st.Terms.Set(term, TermStats{Frequency: 1, Postings: uint32(term)})
		b := NewBlock(term, kv.Place{}, blockValue(1))
		list := NewPostingList(4, []*Block{b})
		st.Terms.entry(term).list.Store(list)
		list.used.Store(term == 2 || term == 3)
	}
	prepared := func(term uint64) *Block { return st.Terms.entry(term).list.Load().Block(0) }
	prepared(6) // no posting is live, so searches need no impacts
	prepared(4).Live = true
	st.Terms.entry(1).changed.Store(5)
	l := NewListCache(alone(1 << 20))
	check := func(want ...uint64) {
		t.Helper()
		if got := l.Unready(st, search.Mobile); !slices.Equal(got, want) {
			t.Errorf("not ready: %v, want %v", got, want)
		}
	}
	check(3, 2, 5, 4)
	impacts := NewImpacts(prepared(4), nil)
	impacts.SetServed(st.Slices.Newest().Number)
	impacts.ParentsVersion.Store(st.Parents.Version)
	prepared(4).Impacts[search.Mobile].Store(impacts)
	check(3, 2, 5)
	st.Parents.Version++
	check(3, 2, 5, 4)
	l.bytes.Store(1<<20 - 1<<18)
	check()
}
