package search_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
)

// fitsOf returns the fits of a text's words in a language.
func fitsOf(m *search.Matcher, text, language string) (fits []search.Fit) {
	split, err := words.Split(text)
	if err != nil {
		panic(err)
	}
	for _, w := range split {
		fits = append(fits, m.Fit(words.Hash(w.Normalised), words.Hash(w.Fold), words.TermOf(language, w.Fold)))
	}
	return fits
}

// TestPairsExplainTheLevel: for every keyword that the oracle finds, in the language in which it matches best,
// the pairs are agreements of single words or runs, respect order and adjacency, and the worst of them is the level.
func TestPairsExplainTheLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		o, err := oracle.New(w.Advertisers, w.Campaigns, w.Items, oracletest.Lexicon())
		if err != nil {
			t.Fatal(err)
		}
		r := oracletest.DrawRequest(t, w)
		if rapid.Bool().Draw(t, "any profile") {
			r.Profile = oracletest.DrawProfile(t)
		}
		q, err := oracletest.Expand(&r, oracletest.Lexicon())
		if err != nil {
			t.Fatal(err)
		}
		p := r.Profile.Capped(r.Variants)
		m := search.NewMatcher(q, p)
		judged, err := o.Explain(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judged {
			best := search.NoLevel
			for _, l := range formLanguages(j.Campaign) {
				fits := fitsOf(m, j.Keyword.Text, l)
				pairs, level := m.Pairs(j.Keyword.Type, fits)
				best = min(best, level)
				if level != search.NoLevel {
					checkPairs(t, pairs, fits, level, p[j.Keyword.Type])
				}
			}
			if best != j.Level {
				t.Fatalf("%q for %q: level %v, want %v", j.Keyword.Text, r.Text, best, j.Level)
			}
		}
	})
}

func checkPairs(t *rapid.T, pairs []search.Pair, fits []search.Fit, level search.Level, rule search.Rule) {
	worst := search.Identical
	for i, p := range pairs {
		worst = max(worst, p.Level)
		at := fits[i].At
		if p.Level > rule.Reach || at[p.Level]>>p.Query&1 == 0 || p.Level > 0 && at[p.Level-1]>>p.Query&1 == 1 {
			t.Fatalf("pair %d %+v is not how the words agree: %+v", i, p, fits[i])
		}
		if !rule.Ordered || i == 0 {
			continue
		}
		if gap := p.Query - pairs[i-1].Query - pairs[i-1].More; gap < 1 || gap > 1 && (rule.Adjacent || !rule.Others) {
			t.Fatalf("%+v are not in order", pairs)
		}
	}
	if worst != level {
		t.Fatalf("worst of %+v is not %v", pairs, level)
	}
}

// formLanguages returns the languages in which a keyword is found: those of the campaign that have a stemmer,
// or "" if there are none.
func formLanguages(c *backend.Campaign) []string {
	var list []string
	for _, l := range c.Languages.Codes() {
		if slices.Contains(words.Default.Codes(), l) {
			list = append(list, l)
		}
	}
	if list == nil {
		return []string{""}
	}
	return list
}

// TestMismatchIsTheOracles: under any profile a keyword has a reason not to match exactly if the oracle does
// not find it, and the reason is the oracle's.
func TestMismatchIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := oracletest.Draw(t)
		o, err := oracle.New(w.Advertisers, w.Campaigns, w.Items, oracletest.Lexicon())
		if err != nil {
			t.Fatal(err)
		}
		r := oracletest.DrawRequest(t, w)
		if rapid.Bool().Draw(t, "any profile") {
			r.Profile = oracletest.DrawProfile(t)
		}
		q, err := oracletest.Expand(&r, oracletest.Lexicon())
		if err != nil {
			t.Fatal(err)
		}
		m := search.NewMatcher(q, r.Profile.Capped(r.Variants))
		matching, err := o.Explain(r)
		if err != nil {
			t.Fatal(err)
		}
		others, err := o.Unmatched(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range append(matching, others...) {
			closest, matches := search.NoMismatch, false
			for _, l := range formLanguages(j.Campaign) {
				why, _, _ := m.Mismatch(j.Keyword.Type, fitsOf(m, j.Keyword.Text, l))
				closest = max(closest, why)
				matches = matches || why == search.NoMismatch
			}
			if matches != (j.Level < search.NoLevel) || !matches && closest != j.Mismatch {
				t.Fatalf("%s %q for %q: matches %v, %q; the oracle: %v, %q", j.Keyword.Type, j.Keyword.Text, r.Text, matches, closest, j.Level, j.Mismatch)
			}
		}
	})
}
