package search_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"adshard/search"
	"adshard/search/words"
)

// TestFormsOfWordsThatShareASlot: words are expanded as ever, whichever of those that share a place in the cache of terms was
// there before, and however long they are.
func TestFormsOfWordsThatShareASlot(t *testing.T) {
	in, err := words.ParseLanguages("cs,de,en")
	if err != nil {
		t.Fatal(err)
	}
	first := "cables"
	texts := []string{first}
	for n := 0; len(texts) < 3; n++ {
		if w := fmt.Sprint("lampen", n); words.Hash(w)%search.WordSlots == words.Hash(first)%search.WordSlots {
			texts = append(texts, w)
		}
	}
	texts = append(texts, strings.Repeat("cables", 20))
	e := search.NewExpansions(in, nil, 0)
	for range 3 {
		for _, text := range texts {
			want, err := search.ExpandIn(in, text, search.Synonym, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := e.Expand(text, search.Synonym); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
			}
		}
	}
}
