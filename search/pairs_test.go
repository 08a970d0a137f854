package search_test

import (
	"slices"
	"testing"

	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
	"pgregory.net/rapid"
)

// fitsOf are the fits of a text's words under a language.
func fitsOf(m *search.Matcher, text, language string) (fits []search.Fit) {
	split, err := words.Split(text)
	if err != nil {
		panic(err)
	}
	for _, w := range split {
		fits = append(fits, m.Fit(words.Hash(w.Norm), words.Hash(w.Fold), words.TermOf(language, w.Fold)))
	}
	return fits
}

// TestPairsExplainTheLevel: for every keyword that the oracle finds, under the
// language that it matches best under, the pairs are agreements of single
// words, obey order and adjacency, and the worst of them is the level.
func TestPairsExplainTheLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, o, _ := world(t)
		r := drawRequest(t, w)
		q, p := expand(t, &r)
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
		if gap := p.Query - pairs[i-1].Query; gap < 1 || gap > 1 && (rule.Adjacent || !rule.Others) {
			t.Fatalf("%+v are not in order", pairs)
		}
	}
	if worst != level {
		t.Fatalf("worst of %+v is not %v", pairs, level)
	}
}

func TestAgreements(t *testing.T) {
	r := oracle.Request{Text: "new Café USB", Profile: search.DefaultProfile()}
	q, err := search.Expand(r.Text, search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := search.NewMatcher(q, r.Profile)
	pairs, level := m.Pairs(search.Phrase, fitsOf(m, "cafe usb", ""))
	got := search.Agreements(pairs, search.Norms("cafe usb"), search.Norms(q.Text))
	want := []search.Agreement{
		{Keyword: "cafe", Query: "café", Level: search.Folded},
		{Keyword: "usb", Query: "usb", Level: search.Identical},
	}
	if level != search.Folded || !slices.Equal(got, want) {
		t.Fatalf("got %v %+v", level, got)
	}
	if pairs, level := m.Pairs(search.Exact, fitsOf(m, "cafe usb", "")); pairs != nil || level != search.NoLevel {
		t.Fatalf("no match is explained as %v %+v", level, pairs)
	}
}
