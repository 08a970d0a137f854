package oracletest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/spelling"
	"adshard/search/words"
)

// Vocabulary returns the vocabulary with the frequencies given by folded form, or nil if there are none.
func Vocabulary(frequencies map[string]int) search.Vocabulary {
	if frequencies == nil {
		return nil
	}
	var c spelling.Counter
	for w, n := range frequencies {
		for range n {
			if err := c.Add([]words.Word{{Fold: w}}); err != nil {
				panic(err)
			}
		}
	}
	v, err := spelling.Parse(c.Text())
	if err != nil {
		panic(err)
	}
	return v
}

// Expand expands the text of an oracle's request.
func Expand(r *oracle.Request, lex *words.Lexicon) (*search.Query, error) {
	return search.ExpandBy(search.Forms{Languages: r.Languages, Lexicon: lex, Vocabulary: Vocabulary(r.Vocabulary)}, r.Text, r.Variants)
}

// drawVocabulary draws the vocabulary of a world, sometimes one that is older and lacks words.
func drawVocabulary(t *rapid.T, w *World) map[string]int {
	v, err := oracle.Count(w.Items)
	if err != nil {
		t.Fatal(err)
	}
	if !mostly(t, "vocabulary of these keywords") {
		list := make([]string, 0, len(v))
		for word := range v {
			list = append(list, word)
		}
		slices.Sort(list)
		for _, word := range list {
			if rapid.Bool().Draw(t, "an older vocabulary lacks "+word) {
				delete(v, word)
			}
		}
	}
	return v
}

// misspelt makes edits in words that have enough letters to be corrected.
func misspelt(t *rapid.T, text string) string {
	list := strings.Split(text, " ")
	for i, w := range list {
		letters := []rune(w)
		if len(letters) < 5 || mostly(t, "spelt well") {
			continue
		}
		for range rapid.IntRange(1, 2).Draw(t, "edits") {
			at := rapid.IntRange(1, len(letters)-1).Draw(t, "place")
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				letters = slices.Delete(letters, at, at+1)
			case 1:
				letters = slices.Insert(letters, at, oneOf(t, "letter", []rune("aeišx7")))
			case 2:
				letters[at] = oneOf(t, "letter", []rune("aeišx7"))
			case 3:
				if at+1 < len(letters) {
					letters[at], letters[at+1] = letters[at+1], letters[at]
				}
			}
		}
		list[i] = string(letters)
	}
	return strings.Join(list, " ")
}
