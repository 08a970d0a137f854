package words

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adshard/internal/goldentest"
)

// TestGoldenEdges compares words with the hand-made answers for difficult cases of Unicode: an
// exact keyword of the first group is in an answer if and only if its words are the query's, and it
// is identical or folded as the answer says.
func TestGoldenEdges(t *testing.T) {
	keywords := edgeKeywords(t)
	checked := 0
	for line := range bytes.Lines(goldentest.Read(t, "edges/want.jsonl")) {
		var answer edgeAnswer
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Device != "desktop" || answer.Matched > 1 {
			continue // other keywords of the advertiser may come first
		}
		query, err := Split(answer.Query)
		if err != nil {
			t.Errorf("query %+q: %v", answer.Query, err)
			continue
		}
		for text, words := range keywords {
			got, shown := agreement(words, query), answer.variant(text)
			if got == "folded" && answer.Variants == "identical" {
				got = ""
			}
			if got != "" || shown != "" {
				checked++
			}
			if got != shown {
				t.Errorf("query %+q, keyword %+q: %q, want %q", answer.Query, text, got, shown)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d agreements checked", checked)
	}
	t.Logf("%d agreements of %d keywords", checked, len(keywords))
}

type edgeAnswer struct {
	Query, Device, Variants string
	Matched                 int
	Ads                     []struct {
		Group, Keyword, Variant string
		MatchType               string `json:"match_type"`
	}
}

// variant returns how the answer says that an exact keyword agreed, or "" if the answer does not
// have it.
func (a *edgeAnswer) variant(keyword string) string {
	for _, ad := range a.Ads {
		if ad.Group == "w" && ad.MatchType == "exact" && ad.Keyword == keyword {
			return ad.Variant
		}
	}
	return ""
}

// edgeKeywords returns the exact keywords of the group about signs. Those that Keyword refuses must
// be the rejected ones of rows 39 and 40.
func edgeKeywords(t *testing.T) map[string][]Word {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(goldentest.Read(t, "edges/editor.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]Word)
	var refused []int
	for i, r := range records {
		if r[7] != "w" || r[2] == "" || r[4] != "Exact" {
			continue
		}
		words, err := Keyword(r[2])
		if err != nil {
			refused = append(refused, i+1)
			continue
		}
		out[strings.TrimSpace(r[2])] = words
	}
	if !slices.Equal(refused, []int{39, 40}) {
		t.Errorf("rows %d refused, want 39 and 40", refused)
	}
	return out
}

// agreement returns how an exact keyword agrees with a query, or "" if it does not.
func agreement(keyword, query []Word) string {
	normalised := func(a, b Word) bool { return a.Normalised == b.Normalised }
	fold := func(a, b Word) bool { return a.Fold == b.Fold }
	switch {
	case len(keyword) == 0:
		return ""
	case slices.EqualFunc(keyword, query, normalised):
		return "identical"
	case slices.EqualFunc(keyword, query, fold):
		return "folded"
	}
	return ""
}
