package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/fault"
)

// MaxKeywordWords and MaxKeywordRunes limit a keyword, positive or negative (serving.md §1.5). They
// count words, and code points of the given text.
const (
	MaxKeywordWords = 10
	MaxKeywordRunes = 80
)

// Word is a word of a text.
type Word struct {
	Normalised string
	Fold       string // folded form of Normalised
}

// Split returns the words of text in order, or nil if there are none. It returns fault.Invalid for
// invalid UTF-8 and for more than 30 non-starters in a row. It does not limit the length.
func Split(text string) ([]Word, error) {
	s, err := normalise(text)
	if err != nil {
		return nil, err
	}
	var out []Word
	for from, to := next(s, 0); from < to; from, to = next(s, to) {
		if out == nil {
			out = make([]Word, 0, 1+len(s)/6)
		}
		out = append(out, Word{Normalised: s[from:to], Fold: folded(s[from:to])})
	}
	return out, nil
}

// Keyword is Split for the text of a keyword without its outer quotes or brackets. It returns
// fault.Invalid with the reason unless the text has 1 to 10 words and at most 80 code points, not
// counting outer white space.
func Keyword(text string) ([]Word, error) {
	if err := checkLength(text); err != nil {
		return nil, err
	}
	out, err := Split(text)
	if err != nil {
		return nil, err
	}
	if err := CheckCount(len(out)); err != nil {
		return nil, err
	}
	return out, nil
}

func checkLength(text string) error {
	if len(text) <= MaxKeywordRunes {
		return nil
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(text)); n > MaxKeywordRunes && utf8.ValidString(text) {
		return fault.Newf(fault.Invalid, "words: keyword",
			"%d characters: more than %d characters; shorten it", n, MaxKeywordRunes)
	}
	return nil
}

// CheckCount returns why a keyword cannot have n words, or nil if it can.
func CheckCount(n int) error {
	switch {
	case n == 0:
		return fault.Newf(fault.Invalid, "words: keyword", "no word: a keyword needs a letter or a digit")
	case n > MaxKeywordWords:
		return fault.Newf(fault.Invalid, "words: keyword",
			"%d words: more than %d words; shorten it", n, MaxKeywordWords)
	}
	return nil
}

// next returns the bounds of the first word of normalised text s at or after i, or an empty range
// if there is none. A word begins with a character of category L* or N* and continues through M*
// and apostrophes that join.
func next[T string | []byte](s T, i int) (from, to int) {
	for i < len(s) {
		letter, _, n := kind(s, i)
		if letter {
			break
		}
		i += n
	}
	from = i
	for i < len(s) {
		letter, mark, n := kind(s, i)
		joint := s[i] == apostrophe && endsInLetter(s[from:i]) && joins(s, i)
		if !letter && !mark && !joint {
			break
		}
		i += n
	}
	return from, i
}

// kind reports whether the rune at s[i:] is of category L* or N* (letter) or of M* (mark), and
// returns its length in bytes.
func kind[T string | []byte](s T, i int) (letter, mark bool, n int) {
	if c := s[i]; c < utf8.RuneSelf {
		return c-'a' < 26 || c-'0' < 10, false, 1
	}
	r, n := decode(s, i)
	letter = unicode.IsLetter(r) || unicode.IsNumber(r)
	return letter, !letter && unicode.IsMark(r), n
}

func decode[T string | []byte](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[i:min(len(s), i+utf8.UTFMax)])
	return utf8.DecodeRune(b[:n])
}
