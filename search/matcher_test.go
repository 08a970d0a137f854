package search_test

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
)

// TestLevelIsTheOracles: for any table of agreements and any rule, the level is the one that trying
// everything gives.
func TestLevelIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "query words")
		q := &search.Query{Words: make([]search.Word, n), Runs: make([]search.Run, 1)}
		for range 20 {
			p := oracletest.DrawProfile(t)
			m := search.NewMatcher(q, p)
			agree, units, fits := drawAgreement(t, n)
			for mt, rule := range p {
				got := m.Level(search.MatchType(mt), fits)
				if want := oracle.MatchTable(units, agree, rule, n); got != want {
					t.Fatalf("%+v %v of %v units: got %v, want %v", rule, agree, units, got, want)
				}
			}
		}
	})
}

// drawAgreement draws how up to five words, some of them runs of several units, agree with n words of a query.
func drawAgreement(t *rapid.T, n int) (agree [][]search.Level, units []int, fits []search.Fit) {
	cell := rapid.SampledFrom([]search.Level{
		search.NoLevel, search.Identical, search.NoLevel, search.Folded, search.Inflected, search.Synonym, search.Misspelt,
	})
	agree = rapid.SliceOfN(rapid.SliceOfN(cell, n, n), 1, 5).Draw(t, "agreement")
	for _, row := range agree {
		more := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "more units")
		f := search.Fit{Best: search.NoLevel, More: uint8(more)}
		for j, level := range row {
			if j+more >= n {
				row[j] = search.NoLevel
				continue
			}
			f.Best = min(f.Best, level)
			for l := level; l < search.NoLevel; l++ {
				f.At[l] |= 1 << j
			}
		}
		fits, units = append(fits, f), append(units, 1+more)
	}
	return agree, units, fits
}

// TestLastWord: masks include the last position.
func TestLastWord(t *testing.T) {
	const n = search.MaxQueryUnits
	q := &search.Query{Words: make([]search.Word, n)}
	last := search.Fit{Best: search.Identical}
	for l := range last.At {
		last.At[l] = 1 << (n - 1)
	}
	before := last
	for l := range before.At {
		before.At[l] = 1 << (n - 2)
	}
	for i := range 8 {
		rule := search.Rule{Others: true, Ordered: i&1 > 0, Adjacent: i&2 > 0, Reach: search.Folded}
		m := search.NewMatcher(q, search.Profile{rule, rule, rule})
		if got := m.Level(search.Broad, []search.Fit{before, last}); got != search.Identical {
			t.Errorf("%+v: in order: got %v", rule, got)
		}
		want := search.Identical
		if rule.Ordered {
			want = search.NoLevel
		}
		if got := m.Level(search.Broad, []search.Fit{last, before}); got != want {
			t.Errorf("%+v: in reverse: got %v, want %v", rule, got, want)
		}
	}
}

// TestTooManyWords: a keyword with more words than allowed never matches.
func TestTooManyWords(t *testing.T) {
	q := &search.Query{Words: make([]search.Word, 1)}
	f := search.Fit{At: [search.Levels]uint64{1, 1, 1, 1, 1}}
	m := search.NewMatcher(q, search.DefaultProfile())
	for n, want := range map[int]search.Level{0: search.NoLevel, 10: search.Identical, 11: search.NoLevel} {
		fits := make([]search.Fit, n)
		for i := range fits {
			fits[i] = f
		}
		if got := m.Level(search.Broad, fits); got != want {
			t.Errorf("%d words: got %v", n, got)
		}
	}
}
