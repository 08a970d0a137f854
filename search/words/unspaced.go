package words

import (
	"unicode"
	"unicode/utf8"

	uax29 "github.com/clipperhouse/uax29/v2/words"
)

// segmenter names what cuts runs into units. The version is that of the module in go.mod.
const segmenter = "uax29 2.7.0"

// unspacedScripts are the scripts that are written without spaces between words (serving.md §1.3).
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// firstUnspaced is the lowest character of these scripts.
const firstUnspaced = 0xE01

// isUnspaced reports whether a letter or number is of a script without spaces. The property Script of five letters is
// Common, since several of these scripts use them.
func isUnspaced(r rune) bool {
	switch {
	case r < firstUnspaced:
		return false
	case r == 'ー' || r == '〆' || r == '〼' || r >= '〱' && r <= '〵':
		return true
	}
	return unicode.In(r, unspacedScripts...)
}

// IsRun reports whether a word of Split is a run: a word of scripts without spaces. All its letters are of such
// scripts. Its folded form is the run itself.
func IsRun(word string) bool {
	if len(word) < 3 || word[0] < 0xE0 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(word)
	return isUnspaced(r)
}

// AppendUnits appends the units of a word of Split to dst: those of a run are its words by Unicode's UAX 29, as package
// uax29 cuts them, any other word is one unit. Where a run is cut depends only on the characters on both sides, so part
// of a run between two cuts has the same units as a run of its own.
func AppendUnits(dst []string, word string) []string {
	if !IsRun(word) {
		return append(dst, word)
	}
	for it := uax29.FromString(word); it.Next(); {
		dst = append(dst, it.Value())
	}
	return dst
}

// Units returns the number of units of a word of Split.
func Units(word string) int {
	if !IsRun(word) {
		return 1
	}
	n := 0
	for it := uax29.FromString(word); it.Next(); {
		n++
	}
	return n
}
