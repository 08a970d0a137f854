package words

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// simpleEnd bounds the fast path: Latin, Greek and Cyrillic text in composed
// form, whose characters normalise one by one.
const simpleEnd = 0x530

// simple holds what the fast path knows of each character, or "" if the fast path must not be used
// for it.
type simple struct {
	normalised [simpleEnd]string // the normalised form
	fold       [simpleEnd]string // the folded form of a normalised letter or number
}

// simpleTable builds the table from the results of the slow path at first use.
var simpleTable = sync.OnceValue(func() *simple {
	t := new(simple)
	for r := rune(0); r < simpleEnd; r++ {
		s := string(r)
		if unchanging(s) == "" || isIgnorable(r) {
			continue // a mark, even if it folds to a letter, as U+0345 does
		}
		t.normalised[r] = withApostrophes(unchanging(norm.NFKC.String(casefold(norm.NFKC.String(s)))))
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			t.fold[r] = unchanging(bareLetters(form{}, s))
		}
	}
	return t
})

// unchanging returns s, or "" if any of its characters reorders or composes with what precedes it.
func unchanging(s string) string {
	for i := 0; i < len(s); {
		p := norm.NFC.PropertiesString(s[i:])
		if p.CCC() != 0 || !p.BoundaryBefore() {
			return ""
		}
		i += p.Size()
	}
	return s
}

// appendSimple appends the normalised form of text to b. It returns false if text has a character
// that the fast path does not know, or invalid UTF-8.
func appendSimple(b []byte, text string) ([]byte, bool) {
	t := simpleTable()
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r >= simpleEnd || t.normalised[r] == "" {
			return b, false
		}
		b = append(b, t.normalised[r]...)
		i += n
	}
	return b, true
}

// appendSimpleFold appends the folded form of a normalised word to b. It returns false if the word
// has a character that the fast path does not know.
func appendSimpleFold(b []byte, word string) ([]byte, bool) {
	t := simpleTable()
	for _, r := range word {
		if r == apostrophe {
			continue
		}
		if r >= simpleEnd || t.fold[r] == "" {
			return b, false
		}
		b = append(b, t.fold[r]...)
	}
	return b, true
}
