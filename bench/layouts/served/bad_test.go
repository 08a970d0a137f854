package served

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/fault"
	"adshard/internal/corpus"
	"adshard/search"
)

// searchBytes is the most that a search may allocate, however much matches.
const searchBytes = 256 << 10

// TestBadSets: in sets in which no index helps, the query of the 32 commonest
// words gets the right answer, or ends at its deadline and does not affect the
// next one. It decides on no keyword twice and keeps only the best.
func TestBadSets(t *testing.T) {
	if testing.Short() {
		t.Skip("sets of 20,000 keywords")
	}
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	set, err := layouts.FromCorpus(t.Context(), c, corpus.Options{Keywords: 20_000, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range badSets(set) {
		for _, l := range []layouts.Layout{Served{}, ServedTop{}} {
			t.Run(name+"/"+l.Name(), func(t *testing.T) { endure(t, l, bad) })
		}
	}
}

// badSets returns bad sets made from the keywords of a set.
func badSets(set *layouts.Set) map[string]*layouts.Set {
	return map[string]*layouts.Set{
		"as it is": set, "shared word": layouts.SharedWord(set, "the"),
		"stop words": layouts.OnlyCommon(set, 32, 1), "one advertiser": layouts.OneAdvertiser(set),
	}
}

// commonest returns the query of the 32 commonest words.
func commonest(set *layouts.Set) *layouts.Query {
	var words []string
	for _, w := range set.Commonest(32) {
		words = append(words, set.Words[w])
	}
	return layouts.NewQueries([]string{strings.Join(words, " ")})[0]
}

func endure(t *testing.T, l layouts.Layout, set *layouts.Set) {
	store, err := l.Build(t.Context(), set, layouts.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := store.Searcher()
	if err != nil {
		t.Fatal(err)
	}
	q := commonest(set)
	want := layouttest.NewOracle(set).Found(q)
	right := func(f layouts.Found) bool {
		return (!l.Provides().Matches || f.Matches == want.Matches) && len(f.Best) == len(want.Best) && f.Best[0] == want.Best[0]
	}
	f, err := s.Search(t.Context(), q)
	if err != nil || !right(f) {
		t.Fatalf("found %+v, %v, want %+v", f, err, want)
	}
	for patience := 2 * time.Millisecond; patience > 0; patience /= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		f, err := s.Search(ctx, q)
		cancel()
		if err != nil && !fault.Is(err, fault.Deadline) || err == nil && !right(f) {
			t.Fatalf("with %v: %+v, %v", patience, f, err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if f, err = s.Search(t.Context(), q); err != nil || !right(f) {
		t.Fatalf("after searches that were cut off: %+v, %v", f, err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > searchBytes {
		t.Errorf("a search with %d matches allocates %d bytes", want.Matches, n)
	}
	counted(t, store.(*Store), set, q)
}

// counted checks the counts of a search.
func counted(t *testing.T, store *Store, set *layouts.Set, q *layouts.Query) {
	query, err := search.Expand(q.Text, search.Identical, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := store.Barrels().Search(t.Context(), &search.Request{
		Query: query, Profile: search.DefaultProfile().Capped(search.Identical), Slots: layouts.Slots, ExactCounts: true,
	})
	if err != nil || a.Work.Examined < a.Matched || a.Work.Examined > uint64(set.Len()) || a.Work.BlocksRead == 0 {
		t.Errorf("of %d keywords: %+v, %v", set.Len(), a, err)
	}
}
