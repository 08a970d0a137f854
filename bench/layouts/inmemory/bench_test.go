package inmemory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"adshard/bench/corpus"
	"adshard/bench/layouts"
)

// benchSet is 430,000 keywords, as in the product's other figures, and queries
// to go with them; of the catalogues beside the repository where they are.
func benchSet(b *testing.B) (*layouts.Set, []*layouts.Query) {
	b.Helper()
	files := os.DirFS("../../../../shared/data")
	if _, err := fs.Stat(files, "catalogue"); errors.Is(err, fs.ErrNotExist) {
		files = corpus.Extract()
	}
	c, err := corpus.Open(files)
	if err != nil {
		b.Fatal(err)
	}
	o := corpus.Options{Keywords: 430_000, Queries: 5000, Seed: 1}
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

// BenchmarkSearch is the time of a query of the log, at 430,000 keywords.
func BenchmarkSearch(b *testing.B) {
	set, queries := benchSet(b)
	for _, l := range []layouts.Layout{Structs{}, Floor{}} {
		b.Run(l.Name(), func(b *testing.B) {
			store, err := l.Build(context.Background(), set, layouts.Options{})
			if err != nil {
				b.Fatal(err)
			}
			s, err := store.Searcher()
			if err != nil {
				b.Fatal(err)
			}
			size, _ := store.Size()
			matches, i := uint64(0), 0
			b.ReportAllocs()
			for b.Loop() {
				f, err := s.Search(context.Background(), queries[i%len(queries)])
				if err != nil {
					b.Fatal(err)
				}
				matches += f.Matches
				i++
			}
			b.ReportMetric(float64(matches)/float64(i), "matches/op")
			b.ReportMetric(float64(size.Memory)/float64(set.Len()), "bytes/keyword")
		})
	}
}
