package barreltest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/internal/oracle/oracletest"
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
			compare(b, s, c.Queries, expander{search.NewExpansions(words.Default, nil, room), search.Synonym, "default"},
				expander{search.NewExpansions(all, nil, room), search.Synonym, "all"})
		})
	}
}

// BenchmarkKnownWords measures, in the same way, what variants=misspelt costs queries of which a keyword has every word. The
// vocabulary is that of the queries, in which all words are looked up, and of many words beside them.
func BenchmarkKnownWords(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	v := vocabularyOf(c.Queries, int(keywords))
	for name, room := range map[string]int{"anew": 0, "kept": 64 << 20} {
		b.Run(name, func(b *testing.B) {
			with := search.NewExpansions(words.Default, nil, room)
			with.Correct(func() search.Vocabulary { return v })
			compare(b, s, c.Queries, expander{search.NewExpansions(words.Default, nil, room), search.Synonym, "synonym"},
				expander{with, search.Misspelt, "misspelt"})
		})
	}
}

// vocabularyOf returns a vocabulary of all words of some queries, and of others that are made up.
func vocabularyOf(queries []string, others int) search.Vocabulary {
	frequencies := make(map[string]int)
	for _, q := range queries {
		split, err := words.Split(q)
		if err != nil {
			continue // the master refuses such a query
		}
		for _, w := range split {
			frequencies[w.Fold]++
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range others {
		word := make([]byte, 5+r.IntN(8))
		for i := range word {
			word[i] = 'a' + byte(r.IntN(26))
		}
		frequencies[string(word)]++
	}
	return oracletest.Vocabulary(frequencies)
}

// expander expands queries up to a level.
type expander struct {
	*search.Expansions
	reach search.Level
	name  string
}

// compare reports the median over pairs of turns of how much longer searches by `other` took than by `one`.
func compare(b *testing.B, s barrels.Store, queries []string, one, other expander) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := 0
	turn := func(e expander) time.Duration {
		start := processorTime(b)
		for i := range countingTurn {
			q, _, err := e.Expand(queries[(next+i)%len(queries)], e.reach)
			if err != nil {
				continue // the master refuses such a query
			}
			r := &search.Request{Query: q, Profile: search.DefaultProfile().Capped(e.reach), Slots: 4, Reserve: 10_000, RequestID: "benchmark"}
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
		turn(one) // the first turns with these queries pay for filling the processor's caches
		turn(other)
		without, with := turn(one), turn(other) // each after the other, whose expanded queries are in the caches
		without, with = without+turn(one), with+turn(other)
		few, many = few+without, many+with
		ratios = append(ratios, float64(with)/float64(without))
		next += countingTurn
	}
	slices.Sort(ratios)
	n := float64(2 * countingTurn * len(ratios))
	b.ReportMetric(float64(few.Nanoseconds())/n/1e3, one.name+"-µs/search")
	b.ReportMetric(float64(many.Nanoseconds())/n/1e3, other.name+"-µs/search")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
