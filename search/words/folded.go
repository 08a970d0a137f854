package words

import (
	"strings"
	"unicode"
)

// special are the letters of serving.md §1.4 that have no decomposition.
var special = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "ħ", "h", "ı", "i", "ŧ", "t",
	"ð", "d", "æ", "ae", "œ", "oe", "þ", "th")

// folded returns the folded form of a normalised word: NFKD without Mn, the
// special letters replaced, then NFKC (serving.md §1.4). It is never empty.
func folded(word string) string {
	if asciiOnly(word) {
		return word
	}
	if b, ok := appendSimpleFold(make([]byte, 0, len(word)+4), word); ok {
		return string(b)
	}
	_, loose := nonStarters(word)
	return bareLetters(form{exact: loose > maxSafe}, word)
}

func bareLetters(f form, word string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, f.nfkd(word))
	return f.nfkc(special.Replace(bare))
}

func asciiOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
