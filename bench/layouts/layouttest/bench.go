package layouttest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"adshard/bench/layouts"
	"adshard/internal/corpus"
)

// BenchSet returns a set of the given number of keywords from the catalogues in dir, a
// path of shared/data relative to the test's directory, and 5000 queries of their log. If
// dir does not exist, it uses the built-in extract.
func BenchSet(b *testing.B, dir string, keywords int64) (*layouts.Set, []*layouts.Query) {
	b.Helper()
	files := os.DirFS(dir)
	if _, err := fs.Stat(files, "catalogue"); errors.Is(err, fs.ErrNotExist) {
		files = corpus.Extract()
	}
	c, err := corpus.Open(files)
	if err != nil {
		b.Fatal(err)
	}
	o := corpus.Options{Keywords: keywords, Queries: 5000, Seed: 1}
	set, err := layouts.FromCorpus(context.Background(), c, o, nil)
	if err != nil {
		b.Fatal(err)
	}
	var log strings.Builder
	if _, err := c.WriteQueries(&log, o); err != nil {
		b.Fatal(err)
	}
	return set, layouts.NewQueries(strings.Split(log.String(), "\n"))
}

// Bench measures the time of a query of the log, with one goroutine and everything cached.
func Bench(b *testing.B, l layouts.Layout, set *layouts.Set, queries []*layouts.Query) {
	b.Helper()
	ctx := context.Background()
	store, err := l.Build(ctx, set, layouts.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Searcher()
	if err != nil {
		b.Fatal(errors.Join(err, store.Close()))
	}
	defer func() {
		if err := errors.Join(s.Close(), store.Close()); err != nil {
			b.Error(err)
		}
	}()
	matches, i := uint64(0), 0
	search := func() {
		f, err := s.Search(ctx, queries[i%len(queries)])
		if err != nil {
			b.Fatal(err)
		}
		matches += f.Matches
		i++
	}
	for range queries { // warms up the caches
		search()
	}
	b.ReportAllocs()
	for b.Loop() {
		search()
	}
	size, err := store.Size()
	if err != nil {
		b.Error(err)
	}
	b.ReportMetric(float64(matches)/float64(i), "matches/op")
	b.ReportMetric(float64(size.Memory)/float64(set.Len()), "memory-B/keyword")
	b.ReportMetric(float64(size.Disk)/float64(set.Len()), "disk-B/keyword")
	b.ReportMetric(float64(size.Matching)/float64(set.Len()), "matching-B/keyword")
}
