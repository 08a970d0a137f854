package rdb_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/bench/corpus"
	"adshard/bench/layouts"
	"adshard/bench/layouts/rdb"
)

// keywords is the size of the set of benchmarks: a small one in ordinary runs,
// -keywords=430000 for the figures.
var keywords = flag.Int64("keywords", 10_000, "size of the benchmarks' set")

// corpusOf makes a set and queries of the extract.
func corpusOf(b *testing.B) (*layouts.Set, []*layouts.Query) {
	b.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		b.Fatal(err)
	}
	o := corpus.Options{Keywords: *keywords, Queries: 2_000, Seed: 1}
	set, err := layouts.FromCorpus(context.Background(), c, o, nil)
	if err != nil {
		b.Fatal(err)
	}
	var log strings.Builder
	if _, err := c.WriteQueries(&log, o); err != nil {
		b.Fatal(err)
	}
	return set, layouts.NewQueries(slices.Collect(strings.Lines(log.String())))
}

// BenchmarkSearch asks real-looking queries of each layout, one at a time.
func BenchmarkSearch(b *testing.B) {
	set, queries := corpusOf(b)
	for _, l := range rdb.All() {
		b.Run(l.Name(), func(b *testing.B) { measure(b, l, set, queries) })
	}
}

func measure(b *testing.B, l layouts.Layout, set *layouts.Set, queries []*layouts.Query) {
	st, err := l.Build(context.Background(), set, layouts.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	s, err := st.Searcher()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	search := func(i int) uint64 {
		f, err := s.Search(context.Background(), queries[i%len(queries)])
		if err != nil {
			b.Fatal(err)
		}
		return f.Matches
	}
	for i := range queries { // once, to fill caches
		search(i)
	}
	looked := begins(set)
	var took []time.Duration
	var matches, pairs uint64
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		matches += search(i)
		took = append(took, time.Since(start))
		for _, w := range queries[i%len(queries)].Words {
			pairs += looked[w]
		}
	}
	size, err := st.Size()
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
	b.ReportMetric(1e9/float64(sum(took).Nanoseconds())*float64(len(took)), "queries/s")
	b.ReportMetric(float64(matches)/float64(len(took)), "matches/op")
	b.ReportMetric(float64(pairs)/float64(len(took)), "looked/op")
	b.ReportMetric(float64(size.Disk)/float64(set.Len()), "disk-B/keyword")
	b.ReportMetric(float64(size.Memory)/float64(set.Len()), "memory-B/keyword")
}

// begins counts the keywords that begin with each word.
func begins(set *layouts.Set) map[string]uint64 {
	out := make(map[string]uint64)
	for i := range set.Len() {
		out[set.Words[set.Of(i)[0]]]++
	}
	return out
}

func sum(took []time.Duration) (all time.Duration) {
	for _, t := range took {
		all += t
	}
	return all
}
