package barreltest

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/search"
	"adshard/search/words"
)

// BenchmarkLanguages measures what further languages cost searches: it alternates turns in which queries are expanded and
// searched in the default languages and in all that have stems, so that other load on the machine affects both, and reports the
// median over the pairs of how much longer all took. Queries are expanded anew, or kept from an earlier turn as masters keep them.
func BenchmarkLanguages(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	all, err := words.ParseLanguages(strings.Join(words.Stemmed(), ","))
	if err != nil {
		b.Fatal(err)
	}
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	for name, room := range map[string]int{"anew": 0, "kept": 64 << 20} {
		b.Run(name, func(b *testing.B) {
			compareLanguages(b, s, c.Queries, search.NewExpansions(words.Default, nil, room), search.NewExpansions(all, nil, room))
		})
	}
}

func compareLanguages(b *testing.B, s barrels.Store, queries []string, one, other *search.Expansions) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := 0
	turn := func(e *search.Expansions) time.Duration {
		start := processorTime(b)
		for i := range countingTurn {
			q, _, err := e.Expand(queries[(next+i)%len(queries)], search.Synonym)
			if err != nil {
				continue // the master refuses such a query
			}
			r := &search.Request{Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000, RequestID: "benchmark"}
			if _, err := s.Search(context.Background(), r); err != nil {
				b.Fatal(err)
			}
		}
		return processorTime(b) - start
	}
	for range len(queries)/countingTurn + 1 { // once, to fill caches
		turn(one)
		turn(other)
		next += countingTurn
	}
	var ratios []float64
	var few, many time.Duration
	for b.Loop() {
		turn(one) // the first turn with these queries pays for filling the processor's caches
		without, with := turn(one), turn(other)
		with, without = with+turn(other), without+turn(one)
		few, many = few+without, many+with
		ratios = append(ratios, float64(with)/float64(without))
		next += countingTurn
	}
	slices.Sort(ratios)
	n := float64(2 * countingTurn * len(ratios))
	b.ReportMetric(float64(few.Nanoseconds())/n/1e3, "default-µs/search")
	b.ReportMetric(float64(many.Nanoseconds())/n/1e3, "all-µs/search")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
