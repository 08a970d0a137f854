package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// apostrophe is the character to which all apostrophes are mapped.
const apostrophe = '\''

// oneApostrophe maps an apostrophe of normalised text to U+0027. NFKC has already mapped U+FF07.
func oneApostrophe(r rune) rune {
	switch r {
	case '\u2019', '\u02bc', '\uff07':
		return apostrophe
	}
	return r
}

// withApostrophes returns normalised text with all its apostrophes mapped to U+0027.
func withApostrophes(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r != oneApostrophe(r) }) < 0 {
		return s
	}
	return strings.Map(oneApostrophe, s)
}

// clitics are the word endings before which an apostrophe does not cut a word.
var clitics = [...]string{"s", "t", "d", "m", "ll", "re", "ve"}

// joins reports whether the apostrophe at s[i:] of normalised text, after a letter with its marks,
// does not cut the word (serving.md §1.3): it does not if one of clitics is all that follows up to
// the word's end. Where the word ends depends on whether the next apostrophe cuts, and so on: if
// one joins, the one before it cuts.
func joins[T string | []byte](s T, i int) bool {
	joined := false
	for {
		n := clitic(s, i+1)
		if n == 0 {
			return joined
		}
		joined = !joined
		if i += 1 + n; i == len(s) || s[i] != apostrophe {
			return joined
		}
	}
}

// clitic returns the length of the clitic that begins at s[i:] and goes on to the word's end or to
// an apostrophe, or 0 if there is none.
func clitic[T string | []byte](s T, i int) int {
	end := i
	for end < len(s) && end-i < 3 && s[end]-'a' < 26 {
		end++
	}
	if end < len(s) {
		if c, _ := kindOf(s, end); c == mark || c == letter {
			return 0
		}
	}
	for _, c := range clitics {
		if string(s[i:end]) == c {
			return end - i
		}
	}
	return 0
}

// endsInLetter reports whether s ends in a letter, which may have marks.
func endsInLetter[T string | []byte](s T) bool {
	for end := len(s); end > 0; {
		r, n := decodeLast(s, end)
		if !unicode.IsMark(r) {
			return unicode.IsLetter(r)
		}
		end -= n
	}
	return false
}

func decodeLast[T string | []byte](s T, end int) (rune, int) {
	if c := s[end-1]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[max(0, end-utf8.UTFMax):end])
	return utf8.DecodeLastRune(b[:n])
}
