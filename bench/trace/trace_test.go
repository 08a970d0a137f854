package trace

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	loads "adshard/balance/load"
	"adshard/bench/layouts/served"
	"adshard/ingest"
	"adshard/internal/corpus"
	"adshard/internal/node/offline"
	"adshard/search"
)

// world imports a small corpus into a database.
func world(t testing.TB) (db backend.Store, url string, queries []string) {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	o := corpus.Options{Keywords: 2000, Seed: 1, Encoding: corpus.UTF8}
	var file bytes.Buffer
	if _, err := c.Write(t.Context(), &file, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ads.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if _, err := ingest.Run(t.Context(), store, []string{"-"}, ingest.Options{Stdin: &file}); err != nil {
		t.Fatal(err)
	}
	queries = append(c.Derived(o, 150, "", 0), c.CommonWords(40)...)
	return store, "sqlite:" + path, append(queries, "no\xffquery", "", "nothingmatchesthis")
}

func build(t testing.TB, db backend.Store, queries []string) *Trace {
	t.Helper()
	tr, err := Build(t.Context(), db, Options{Profile: search.DefaultProfile(), Queries: queries})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestAgreesWithStore: the postings examined in a trace are those that a store
// built offline looks at with exact counts, except blocks in which nothing is
// enabled. The matches are the same too, except those of paused parents.
func TestAgreesWithStore(t *testing.T) {
	db, url, queries := world(t)
	tr := build(t, db, queries)
	cfg := offline.DefaultConfig()
	cfg.DB, cfg.Slaves, cfg.Out = url, 1, filepath.Join(t.TempDir(), "built")
	if _, err := offline.Build(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	store, err := served.Open(served.RocksDB{}, filepath.Join(cfg.Out, "slave-0"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	matched, found, all, least := 0, 0, 0, 0
	for i, text := range queries {
		q, err := search.Expand(text, search.Synonym, nil)
		if err != nil {
			continue
		}
		a, err := store.Search(t.Context(), &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 1, ExactCounts: true})
		if err != nil {
			t.Fatal(err)
		}
		examined, hits := 0, 0
		tr.Query(i, func(c Cost) { examined, hits = examined+int(c.Examined), hits+int(c.Matched) })
		all, least = all+examined, least+int(a.Work.Examined)
		if uint64(examined) < a.Work.Examined {
			t.Errorf("%q: %d examined, the store %d", text, examined, a.Work.Examined)
		}
		if uint64(hits) < a.Matched {
			t.Errorf("%q: %d matches, the store has %d", text, hits, a.Matched)
		}
		matched, found = matched+hits, found+int(a.Matched)
	}
	if all > least*101/100 {
		t.Errorf("%d examined, the store %d", all, least)
	}
	if found == 0 || matched > found*11/10 {
		t.Errorf("%d matches, the store %d", matched, found)
	}
}

func TestLoadSumsCosts(t *testing.T) {
	db, _, queries := world(t)
	tr := build(t, db, queries)
	shares := make([]float64, len(queries))
	shares[0], shares[1] = 0.25, 0.75
	want := 0.0
	for q, share := range shares {
		tr.Query(q, func(c Cost) { want += share * float64(2*c.Examined+3*c.Matched) })
	}
	got := 0.0
	for _, v := range tr.Load(shares, loads.Weights{Examined: 2, Matched: 3}) {
		got += v
	}
	if want == 0 || got < want*0.999 || got > want*1.001 {
		t.Errorf("the load is %v, want %v", got, want)
	}
	if x := tr.Index(); x.Len() != len(tr.Keys) {
		t.Errorf("%d of %d items in the index", x.Len(), len(tr.Keys))
	}
}

func TestCached(t *testing.T) {
	db, _, queries := world(t)
	dir := t.TempDir()
	o := Options{Profile: search.DefaultProfile(), Queries: queries}
	first, err := Cached(t.Context(), db, o, dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Cached(t.Context(), db, o, dir)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("the file holds another trace: %v", err)
	}
	o.Queries = queries[1:]
	third, err := Cached(t.Context(), db, o, dir)
	if err != nil || len(third.Queries) != len(queries)-1 {
		t.Errorf("other queries gave a trace of %d: %v", len(third.Queries), err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 2 {
		t.Errorf("files: %v", files)
	}
}

// TestTopics: a query looks at the postings of its terms.
func TestTopics(t *testing.T) {
	db, _, queries := world(t)
	tr, several := build(t, db, queries), 0
	for q := range tr.Queries {
		want, got := make(map[uint32]uint32), make(map[uint32]uint32)
		tr.Query(q, func(c Cost) { want[c.Item] = c.Examined })
		terms := tr.Topics.Query(q)
		for _, term := range terms {
			tr.Topics.Term(term, func(item, postings uint32) { got[item] += postings })
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%q: topics say %v, the costs are %v", tr.Queries[q], got, want)
		}
		if len(terms) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no query has two topics")
	}
}
