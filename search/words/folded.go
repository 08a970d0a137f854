package words

import (
	"strings"
	"unicode"
)

// special maps the letters of serving.md §1.4 that have no decomposition, and removes the
// apostrophe.
var special = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "ħ", "h", "ı", "i", "ŧ", "t",
	"ð", "d", "æ", "ae", "œ", "oe", "þ", "th", string(apostrophe), "")

// folded returns the folded form of a normalised word (serving.md §1.4): NFKD, without apostrophes
// and the marks that bareLetters drops, with the special letters replaced, then NFKC. It is never
// empty.
func folded(word string) string {
	if plain(word) {
		return word
	}
	if b, ok := appendSimpleFold(make([]byte, 0, len(word)+4), word); ok {
		return string(b)
	}
	_, loose := nonStarters(word)
	return bareLetters(form{exact: loose > maxSafe}, word)
}

// bareLetters drops the nonspacing marks (Mn) after letters of the scripts in which a mark does not
// make another letter. In other scripts it does: the kana ば and は, or the Thai ม้า and มา, are
// different words.
func bareLetters(f form, word string) string {
	bare := false // whether the last base letter is of these scripts
	word = strings.Map(func(r rune) rune {
		if !unicode.IsMark(r) {
			bare = unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
			return r
		}
		if bare && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, f.nfkd(word))
	return f.nfkc(special.Replace(word))
}

// plain reports whether a normalised word is its own folded form because it is ASCII without an
// apostrophe.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 || s[i] == apostrophe {
			return false
		}
	}
	return true
}
