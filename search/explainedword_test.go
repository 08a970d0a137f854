package search_test

import (
	"reflect"
	"strings"
	"testing"

	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
)

func TestExplainWords(t *testing.T) {
	in, err := words.ParseLanguages("en,de")
	if err != nil {
		t.Fatal(err)
	}
	e := search.NewExpansions(in, oracletest.Lexicon(), 1<<20)
	want := []search.ExplainedWord{
		{Word: words.Word{Normalised: "cafés", Fold: "cafes"}, Stems: []search.ExplainedStem{{"de", "caf", nil}, {"en", "cafe", nil}}},
		{Word: words.Word{Normalised: "light", Fold: "light"}, Stems: []search.ExplainedStem{{"de", "light", nil}, {"en", "light", []string{"lamp"}}}},
	}
	if got := e.Explain("Cafés light", ""); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := e.Explain(strings.Repeat("x ", 40), ""); len(got) != search.MaxQueryWords {
		t.Errorf("%d words of a long query", len(got))
	}
	if got := e.Explain("phone", ""); !reflect.DeepEqual(got[0].Stems[1].Synonyms, []string{"telephone"}) {
		t.Errorf("%+v of a word that the lexicon pairs with a run", got)
	}
	if got := e.Explain("手机", ""); len(got) != 2 || got[1].Normalised != "机" || got[1].Stems != nil {
		t.Errorf("%+v of two units", got)
	}
	if got := search.NewExpansions(words.Default, nil, 0).Explain("\xff", ""); got != nil {
		t.Errorf("%+v of what is no text", got)
	}
}
