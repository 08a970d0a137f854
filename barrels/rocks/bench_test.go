package rocks_test

import (
	"flag"
	"path/filepath"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
)

// keywords is the size of the benchmarks' corpus: a small one in ordinary runs,
// -keywords=430000 for the figures.
var keywords = flag.Int64("keywords", 10_000, "size of the benchmarks' corpus")

// emptyStore opens an empty store.
func emptyStore(t testing.TB) barrels.Store {
	s, err := openStore(t.TempDir(), rocks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkFill(b *testing.B) { barreltest.BenchmarkFill(b, *keywords, emptyStore) }

func BenchmarkSearch(b *testing.B) { barreltest.BenchmarkSearch(b, *keywords, emptyStore) }

// BenchmarkSearchBuilt searches a store that was built offline.
func BenchmarkSearchBuilt(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	dir := filepath.Join(b.TempDir(), "store")
	build(b, dir, c.Data)
	s, err := openStore(dir, rocks.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.Logf("%+v", s.Stats())
	barreltest.MeasureSearch(b, s, c.Requests(b))
}

func BenchmarkPages(b *testing.B) { barreltest.BenchmarkPages(b, *keywords, emptyStore) }

func BenchmarkCounting(b *testing.B) { barreltest.BenchmarkCounting(b, *keywords, emptyStore) }

// BenchmarkLanguages compares searches in the default languages and in all (docs/languages.md).
func BenchmarkLanguages(b *testing.B) {
	barreltest.BenchmarkLanguages(b, *keywords, emptyStore)
}

// BenchmarkKnownWords compares searches that ask for corrections, and find none, with others (docs/decisions/043-misspellings.md).
func BenchmarkKnownWords(b *testing.B) {
	barreltest.BenchmarkKnownWords(b, *keywords, emptyStore)
}

func BenchmarkAdvertiserNegatives(b *testing.B) {
	barreltest.BenchmarkAdvertiserNegatives(b, *keywords, emptyStore)
}

// BenchmarkTargeting compares searches with and without targeting (docs/experiments/targeting.md).
func BenchmarkTargeting(b *testing.B) {
	barreltest.BenchmarkTargeting(b, *keywords, func(t testing.TB, c *barreltest.Corpus) barrels.Store {
		dir := filepath.Join(b.TempDir(), "store")
		build(t, dir, c.Data)
		s, err := openStore(dir, rocks.Options{CacheBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return s
	})
}

func BenchmarkCertify(b *testing.B) { barreltest.BenchmarkCertify(b, *keywords, emptyStore) }

func BenchmarkCertifyGroups(b *testing.B) {
	barreltest.BenchmarkCertifyGroups(b, *keywords, emptyStore)
}

func BenchmarkApply(b *testing.B) { barreltest.BenchmarkApply(b, *keywords, emptyStore) }

// BenchmarkOpen opens and closes a store that was built offline.
func BenchmarkOpen(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	dir := filepath.Join(b.TempDir(), "store")
	build(b, dir, c.Data)
	for b.Loop() {
		s, err := openStore(dir, rocks.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstSearches searches stores that were just opened.
func BenchmarkFirstSearches(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	dir := filepath.Join(b.TempDir(), "store")
	build(b, dir, c.Data)
	barreltest.BenchmarkFirstSearches(b, c, func(t testing.TB) barrels.Store {
		s, err := openStore(dir, rocks.Options{CacheBytes: 256 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// BenchmarkOpenChanged opens and closes a store whose keywords were changed after it was built,
// a quarter of them in one process.
func BenchmarkOpenChanged(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	dir := filepath.Join(b.TempDir(), "store")
	build(b, dir, c.Data)
	s, err := openStore(dir, rocks.Options{})
	if err != nil {
		b.Fatal(err)
	}
	changes := barreltest.NewChanges(c)
	for left := c.Keywords() / 4; left > 0; {
		d, n := changes.Bucket(10_000)
		if err := s.Apply(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		left -= n
	}
	for b.Loop() {
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if s, err = openStore(dir, rocks.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// built opens a store that was built offline from the benchmarks' corpus.
func built(b *testing.B) (*barreltest.Corpus, barrels.Store) {
	c := barreltest.LoadCorpus(b, *keywords)
	dir := filepath.Join(b.TempDir(), "store")
	build(b, dir, c.Data)
	s, err := openStore(dir, rocks.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return c, s
}

// BenchmarkChanges changes groups as fast as the store applies the changes.
func BenchmarkChanges(b *testing.B) {
	c, s := built(b)
	barreltest.BenchmarkChanges(b, c, s)
}

// rate is the number of keywords per second that BenchmarkSearchChanged changes.
var rate = flag.Int("rate", 5_000, "keywords that change a second beside searches")

func BenchmarkSearchChanged(b *testing.B) {
	c, s := built(b)
	barreltest.BenchmarkSearchChanged(b, c, s, *rate)
}
