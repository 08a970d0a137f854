package words

import (
	"unicode"
	"unicode/utf8"
)

// Span is the range of a word in a text, in bytes.
type Span struct{ From, To int }

// Spans returns the ranges of the words of a display text. The text is not normalised: words are
// those of serving.md §1.3 with any case, any apostrophe, and any ignorable characters within them.
func Spans(text string) (list []Span) {
	s := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1) // for each byte of s, its position in text
	for i, r := range text {
		if isIgnorable(r) {
			continue
		}
		s = utf8.AppendRune(s, oneApostrophe(unicode.ToLower(r)))
		for len(at) < len(s) {
			at = append(at, i)
		}
	}
	at = append(at, len(text))
	for from, to := next(s, 0); from < to; from, to = next(s, to) {
		list = append(list, Span{at[from], at[to]})
	}
	return list
}
