package words

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxSafe is the length of a run up to which x/text certainly adds no grapheme joiner. It adds one
// after 30 characters that it takes for non-starters; Unicode's normal forms do not.
const maxSafe = 24

// form normalises. If exact is set it uses this file's own slow implementation of Unicode Standard
// Annex #15, which never adds a grapheme joiner, otherwise x/text.
type form struct{ exact bool }

func (f form) nfkc(s string) string {
	if !f.exact {
		return norm.NFKC.String(s)
	}
	return string(compose(decompose(s)))
}

func (f form) nfkd(s string) string {
	if !f.exact {
		return norm.NFKD.String(s)
	}
	return string(decompose(s))
}

// decompose returns the NFKD of s: each rune's decomposition, then each run of
// non-starters sorted by combining class.
func decompose(s string) []rune {
	var out []rune
	for _, r := range s {
		out = append(out, []rune(norm.NFKD.String(string(r)))...)
	}
	for i := 0; i < len(out); {
		j := i + 1
		for class(out[i]) != 0 && j < len(out) && class(out[j]) != 0 {
			j++
		}
		slices.SortStableFunc(out[i:j], func(a, b rune) int { return int(class(a)) - int(class(b)) })
		i = j
	}
	return out
}

// compose returns the canonical composition of decomposed text.
func compose(in []rune) []rune {
	var out []rune
	starter := -1    // index in out of the last starter
	last := uint8(0) // class of the last rune of out, 0 right after the starter
	for _, r := range in {
		c := class(r)
		open := starter >= 0 && (last < c || len(out)-1 == starter)
		if open {
			if p, ok := pair(out[starter], r); ok {
				out[starter] = p
				continue
			}
		}
		if c == 0 {
			starter = len(out)
		}
		last = c
		out = append(out, r)
	}
	return out
}

// pair returns the primary composite of a and b, if there is one.
func pair(a, b rune) (rune, bool) {
	s := norm.NFC.String(string(a) + string(b))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s)
}

func class(r rune) uint8 {
	var b [utf8.UTFMax]byte
	return norm.NFC.Properties(b[:utf8.EncodeRune(b[:], r)]).CCC()
}
