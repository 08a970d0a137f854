package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/fault"
)

// MaxKeywordWords, MaxKeywordUnits and MaxKeywordRunes limit a keyword, positive or negative
// (serving.md §1.5). They count words, the units of all words, and code points of the given text.
const (
	MaxKeywordWords = 10
	MaxKeywordUnits = 40
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
// fault.Invalid with the reason unless the text has 1 to 10 words of at most 40 units and at most 80
// code points, not counting outer white space.
func Keyword(text string) ([]Word, error) {
	if err := checkLength(text); err != nil {
		return nil, err
	}
	out, err := Split(text)
	if err != nil {
		return nil, err
	}
	units := 0
	for i := range out {
		units += Units(out[i].Normalised)
	}
	if err := checkCount(len(out), units); err != nil {
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

// CheckCount returns why a keyword cannot have these words, or nil if it can.
func CheckCount(list []*Analysis) error {
	units := 0
	for _, w := range list {
		units += w.Units
	}
	return checkCount(len(list), units)
}

func checkCount(n, units int) error {
	switch {
	case n == 0:
		return fault.Newf(fault.Invalid, "words: keyword", "no word: a keyword needs a letter or a digit")
	case n > MaxKeywordWords:
		return fault.Newf(fault.Invalid, "words: keyword",
			"%d words: more than %d words; shorten it", n, MaxKeywordWords)
	case units > MaxKeywordUnits:
		return fault.Newf(fault.Invalid, "words: keyword",
			"%d units (characters of scripts without spaces, and words): more than %d; shorten it", units, MaxKeywordUnits)
	}
	return nil
}

// next returns the bounds of the first word of normalised text s at or after i, or an empty range
// if there is none. A word begins with a character of category L* or N* and continues through more of
// them, all of scripts without spaces or none, through M* and through apostrophes that join.
func next[T string | []byte](s T, i int) (from, to int) {
	var of kind
	for i < len(s) {
		var n int
		if of, n = kindOf(s, i); of >= letter {
			break
		}
		i += n
	}
	from = i
	for i < len(s) {
		c, n := kindOf(s, i)
		joint := s[i] == apostrophe && of == letter && endsInLetter(s[from:i]) && joins(s, i)
		if c != of && c != mark && !joint {
			break
		}
		i += n
	}
	return from, i
}

// kind says what a character is for words.
type kind uint8

const (
	separator kind = iota
	mark           // of category M*
	letter         // of category L* or N*
	unspaced       // a letter of a script without spaces
)

// kindOf returns the kind of the character at s[i:] and its length in bytes.
func kindOf[T string | []byte](s T, i int) (k kind, n int) {
	if c := s[i]; c < utf8.RuneSelf {
		if c-'a' < 26 || c-'0' < 10 {
			return letter, 1
		}
		return separator, 1
	}
	r, n := decode(s, i)
	switch {
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		if isUnspaced(r) {
			return unspaced, n
		}
		return letter, n
	case unicode.IsMark(r):
		return mark, n
	}
	return separator, n
}

func decode[T string | []byte](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s[i:min(len(s), i+utf8.UTFMax)])
	return utf8.DecodeRune(b[:n])
}
