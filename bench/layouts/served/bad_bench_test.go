package served

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/internal/corpus"
)

// keywords is the size of the benchmarks' sets: small ones in ordinary runs, -keywords=430000
// for the figures.
var keywords = flag.Int64("keywords", 10_000, "size of the benchmarks' sets")

// BenchmarkBadSets measures the query of the 32 commonest words in sets that defy every index,
// with all matches counted and with only the best found. late-ms is the most by which a search
// exceeds a deadline of a millisecond.
func BenchmarkBadSets(b *testing.B) {
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		b.Fatal(err)
	}
	set, err := layouts.FromCorpus(context.Background(), c, corpus.Options{Keywords: *keywords, Seed: 1}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, bad := range badSets(set) {
		for _, l := range []layouts.Layout{Served{}, ServedTop{}} {
			b.Run(name+"/"+l.Name(), func(b *testing.B) { stopQuery(b, l, bad) })
		}
	}
}

func stopQuery(b *testing.B, l layouts.Layout, set *layouts.Set) {
	store, err := l.Build(context.Background(), set, layouts.Options{Dir: b.TempDir()})
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
	q := commonest(set)
	var found layouts.Found
	b.ReportAllocs()
	for b.Loop() {
		if found, err = s.Search(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(found.Matches), "matches")
	b.ReportMetric(late(b, s, q).Seconds()*1e3, "late-ms")
}

// late returns the most by which a search exceeds its deadline.
func late(b *testing.B, s layouts.Searcher, q *layouts.Query) (worst time.Duration) {
	for range 50 {
		deadline := time.Now().Add(time.Millisecond)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		if _, err := s.Search(ctx, q); err != nil && fault.KindOf(err) != fault.Deadline {
			b.Error(err)
		}
		worst = max(worst, time.Since(deadline))
		cancel()
	}
	return worst
}
