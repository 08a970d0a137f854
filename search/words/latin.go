package words

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// latinEnd bounds the fast path: text of runes below it that normalise one by
// one. None of them combines with a neighbour.
const latinEnd = 0x250

// combiningFrom is the first combining mark of Unicode.
const combiningFrom = 0x300

// latin is what the fast path knows of a rune; "" where it must not be taken.
type latin struct {
	norm [latinEnd]string // the normalised form
	fold [latinEnd]string // the folded form
}

// latinTable is made from the slow path's own answers at first use.
var latinTable = sync.OnceValue(func() *latin {
	t := new(latin)
	for r := rune(0); r < latinEnd; r++ {
		s := string(r)
		t.norm[r] = closed(norm.NFKC.String(casefold(norm.NFKC.String(s))))
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			t.fold[r] = closed(bareLetters(form{}, s))
		}
	}
	return t
})

// closed returns s, or "" if it holds a rune outside the fast path's own.
func closed(s string) string {
	for _, r := range s {
		if r >= combiningFrom {
			return ""
		}
	}
	return s
}

// appendLatin appends the normalised form of text to b; false if text has a
// rune that the fast path does not know.
func appendLatin(b []byte, text string) ([]byte, bool) {
	t := latinTable()
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
		if r >= latinEnd || t.norm[r] == "" {
			return b, false
		}
		b = append(b, t.norm[r]...)
		i += n
	}
	return b, true
}

// appendLatinFold appends the folded form of a normalised word to b; false if
// it has a rune that the fast path does not know.
func appendLatinFold(b []byte, word string) ([]byte, bool) {
	t := latinTable()
	for _, r := range word {
		if r >= latinEnd || t.fold[r] == "" {
			return b, false
		}
		b = append(b, t.fold[r]...)
	}
	return b, true
}
