package spelling

import (
	"unicode"
	"unicode/utf8"

	"adshard/search/words"
)

const (
	// Most is the largest number of corrections of a word.
	Most = 4
	// MaxWords is the largest number of words of a vocabulary. Its memory is then about half a gigabyte.
	MaxWords = 4_000_000
	// leastLetters is the number of letters of the shortest words that are corrected, and
	// lettersOfTwo of the shortest in which two edits are.
	leastLetters = 5
	lettersOfTwo = 9
	// mostAlike is the number of words with the same rest that are compared, the first by rank (serving.md §2).
	mostAlike = 1_000
	// maxBytes bounds a word: a keyword has at most 80 characters, and folding one may give several.
	maxBytes = 1 << 10
)

// Edits returns how many edits are corrected in a word, given as a folded form: 0, 1 or 2. A letter
// is a code point.
func Edits(word string) int {
	n := utf8.RuneCountInString(word)
	switch {
	case n < leastLetters || hasDigit(word) || words.IsRun(word):
		return 0
	case n < lettersOfTwo:
		return 1
	}
	return 2
}

// InVocabulary reports whether a vocabulary contains a word of a keyword, given as a folded form. Other words correct none
// and are not corrected; runs (words.IsRun) have no other forms.
func InVocabulary(word string) bool {
	return utf8.RuneCountInString(word) >= leastLetters-1 && len(word) <= maxBytes && !hasDigit(word) && !words.IsRun(word)
}

// hasDigit reports whether a word has a character of category N*.
func hasDigit(word string) bool {
	for i, r := range word {
		if r < utf8.RuneSelf {
			if '0' <= word[i] && word[i] <= '9' {
				return true
			}
		} else if unicode.Is(unicode.N, r) {
			return true
		}
	}
	return false
}
