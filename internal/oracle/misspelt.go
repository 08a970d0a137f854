package oracle

import (
	"cmp"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// Count returns the vocabulary of all keywords of some groups: the number of keywords that have a word, by folded form.
// It returns an error if words.Keyword rejects a text.
func Count(items []*backend.Item) (map[string]int, error) {
	vocabulary := map[string]int{}
	for _, it := range items {
		for i := range it.Keywords {
			split, err := words.Keyword(it.Keywords[i].Text)
			if err != nil {
				return nil, err
			}
			has := map[string]bool{}
			for _, w := range split {
				has[w.Fold] = true
			}
			for w := range has {
				vocabulary[w]++
			}
		}
	}
	return vocabulary, nil
}

// Corrections returns the corrections of a word by a vocabulary, which gives the number of keywords that
// have a word (serving.md §2, `misspelt`). Words are folded forms.
func Corrections(vocabulary map[string]int, word string) []string {
	letters := []rune(word)
	edits := 1
	if len(letters) >= 9 {
		edits = 2
	}
	if vocabulary[word] > 0 || len(letters) < 5 || slices.ContainsFunc(letters, unicode.IsNumber) || words.IsRun(word) {
		return nil
	}
	apart := map[string]int{}
	var near []string
	for v := range vocabulary {
		its := []rune(v)
		if its[0] != letters[0] || slices.ContainsFunc(its, unicode.IsNumber) || words.IsRun(v) {
			continue
		}
		if apart[v] = editsBetween(letters, its); apart[v] <= edits {
			near = append(near, v)
		}
	}
	if len(near) > 0 && len(vocabulary) > mostAlike {
		among := compared(vocabulary, word, edits)
		near = slices.DeleteFunc(near, func(v string) bool { return !among[v] })
	}
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(apart[a], apart[b]), cmp.Compare(vocabulary[b], vocabulary[a]), slices.Compare([]rune(a), []rune(b)))
	})
	return near[:min(len(near), 4)]
}

// mostAlike is the number of words with the same rest that are compared.
const mostAlike = 1000

// compared returns the words of a vocabulary that are compared with a word: of each of its rests the first words.
func compared(vocabulary map[string]int, word string, edits int) map[string]bool {
	order := slices.SortedFunc(maps.Keys(vocabulary), func(a, b string) int {
		return cmp.Or(cmp.Compare(vocabulary[b], vocabulary[a]), slices.Compare([]rune(a), []rune(b)))
	})
	mine, among, counts := rests(word, edits), map[string]bool{}, map[string]int{}
	for _, v := range order {
		if n := utf8.RuneCountInString(v); n < 4 || edits == 1 && n > 9 || edits == 2 && n < 7 || slices.ContainsFunc([]rune(v), unicode.IsNumber) || words.IsRun(v) {
			continue
		}
		for rest := range rests(v, edits) {
			if !mine[rest] {
				continue
			}
			if counts[rest]++; counts[rest] <= mostAlike {
				among[v] = true
			}
		}
	}
	return among
}

// rests returns what is left of a word's first 8 letters, with blanks for those that it lacks, without `edits` of the second to
// the eighth.
func rests(word string, edits int) map[string]bool {
	list := map[string]bool{string(append([]rune(word), []rune("        ")...)[:8]): true}
	for range edits {
		shorter := map[string]bool{}
		for w := range list {
			letters := []rune(w)
			for i := 1; i < len(letters); i++ {
				shorter[string(slices.Delete(slices.Clone(letters), i, i+1))] = true
			}
		}
		list = shorter
	}
	return list
}

// editsBetween returns the number of edits between two words. An edit inserts, deletes or replaces a letter, or swaps
// two neighbours, which are not edited again.
func editsBetween(a, b []rune) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
		for j := range t[i] {
			if i == 0 || j == 0 {
				t[i][j] = i + j
				continue
			}
			replaced := 1
			if a[i-1] == b[j-1] {
				replaced = 0
			}
			t[i][j] = min(t[i-1][j-1]+replaced, t[i-1][j]+1, t[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				t[i][j] = min(t[i][j], t[i-2][j-2]+1)
			}
		}
	}
	return t[len(a)][len(b)]
}

// reach returns the level up to which a match type agrees in a request.
func (r *Request) reach(t search.MatchType) search.Level {
	most := r.Profile[t].Reach
	switch {
	case r.Variants < search.Misspelt:
		return min(most, r.Variants)
	case t == search.Broad && most >= search.Synonym:
		return search.Misspelt
	}
	return min(most, search.Synonym)
}
