package searchapi

import (
	"net/http"
	"slices"
	"testing"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/search/spelling"
	"adshard/search/words"
)

// TestAnswersNameTheVocabulary: an answer to variants=misspelt names the vocabulary, says `none` while there is none, which strict refuses,
// and only such a request reaches for corrections. An explanation shows them.
func TestAnswersNameTheVocabulary(t *testing.T) {
	v, err := spelling.Parse(spelling.Header() + "wireless 2\ncable 1\n")
	if err != nil {
		t.Fatal(err)
	}
	var now search.Vocabulary
	f := &fake{answer: whole(), explain: &search.Explanation{Width: search.WholeRing()}}
	c := configured(f)
	c.Expansions = search.NewExpansions(words.Default, nil, ExpansionBytes)
	c.Expansions.Correct(func() search.Vocabulary { return now })
	var seen, arrived []string
	c.Arrived = func(_, _, vocabulary string) { arrived = append(arrived, vocabulary) }
	c.Observer = observerFunc(func(o *Observation) { seen = append(seen, o.Vocabulary) })
	h := New(c)
	for _, s := range []struct {
		vocabulary search.Vocabulary
		variants   string
		version    string
		strict     int // status
	}{
		{nil, "misspelt", "none", http.StatusServiceUnavailable}, {v, "misspelt", v.Version(), http.StatusOK},
		{nil, "synonym", "", http.StatusOK}, {v, "synonym", "", http.StatusOK}, {v, "folded", "", http.StatusOK},
	} {
		now, seen, arrived = s.vocabulary, nil, nil
		_, body := get(t, h, "/v1/search?q=wireles+usb&variants="+s.variants)
		if a := searchAnswer(t, body); a.VocabularyVersion != s.version || !slices.Equal(seen, []string{s.version}) || !slices.Equal(arrived, seen) {
			t.Errorf("%+v: %q, observed %q, recorded %q", s, a.VocabularyVersion, seen, arrived)
		}
		corrected := s.version == v.Version()
		if f.asked.Profile.Corrects() != (s.variants == "misspelt") || slices.ContainsFunc(f.asked.Query.Terms, func(t search.QueryTerm) bool { return t.Cap() == search.Misspelt }) != corrected {
			t.Errorf("%+v: asked for %+v", s, f.asked)
		}
		if r, body := get(t, h, "/v1/search?q=wireles&strict=true&variants="+s.variants); r.StatusCode != s.strict {
			t.Errorf("%+v, strict: %d %s", s, r.StatusCode, body)
		}
		_, body = get(t, h, "/v1/explain?q=wireles+usb&variants="+s.variants)
		var want []string
		if corrected {
			want = []string{"wireless"}
		}
		var a api.ExplainAnswer
		if strictly(t, body, &a); a.VocabularyVersion != s.version || !slices.Equal(a.QueryWords[0].Corrections, want) || a.QueryWords[1].Corrections != nil {
			t.Errorf("%+v: explained as %+v by %q", s, a.QueryWords, a.VocabularyVersion)
		}
	}
}
