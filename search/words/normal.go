package words

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"adshard/fault"
)

// maxNonStarters is the largest number of non-starters in a row after NFKD.
const maxNonStarters = 30

// normalise returns NFKC(casefold(NFKC(text))) of text without ignorable characters, with one kind of apostrophe. It
// returns fault.Invalid for invalid UTF-8, before any other step, and for more than 30 non-starters in a row, not counting
// ignorable characters.
func normalise(text string) (string, error) {
	if asciiLower(text) {
		return text, nil
	}
	if b, ok := appendSimple(make([]byte, 0, len(text)+8), text); ok {
		return string(b), nil
	}
	return normaliseAny(text)
}

// normaliseAny is normalise without the fast path.
func normaliseAny(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fault.Newf(fault.Invalid, "words: split", "the text is not valid UTF-8; convert it to UTF-8")
	}
	text = dropIgnorable(text)
	strict, loose := nonStarters(text)
	if strict > maxNonStarters {
		return "", fault.Newf(fault.Invalid, "words: split",
			"more than %d non-starters (combining marks) follow one another", maxNonStarters)
	}
	form := form{exact: loose > maxSafe}
	return withApostrophes(form.nfkc(casefold(form.nfkc(text)))), nil
}

// nonStarters returns the length of the longest run of non-starters after NFKD, and of the longest run of what x/text
// counts as non-starters. x/text also counts starters that compose with what precedes them (Hangul vowels, say).
func nonStarters(text string) (strict, loose int) {
	var runs, looseRuns int
	for i := 0; i < len(text); {
		p := norm.NFKD.PropertiesString(text[i:])
		d := text[i : i+p.Size()]
		if full := p.Decomposition(); full != nil {
			d = string(full)
		}
		for j := 0; j < len(d); {
			q := norm.NFC.PropertiesString(d[j:])
			runs, looseRuns = runs+1, looseRuns+1
			if q.CCC() == 0 {
				runs = 0
				if q.BoundaryBefore() {
					looseRuns = 0
				}
			}
			strict, loose = max(strict, runs), max(loose, looseRuns)
			j += q.Size()
		}
		i += p.Size()
	}
	return strict, loose
}

// asciiLower reports whether s is ASCII without capitals and so already normalised.
func asciiLower(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c-'A' < 26 {
			return false
		}
	}
	return true
}

// Normalise returns NFKC(casefold(NFKC(text))) of text without ignorable characters and with one kind of apostrophe. Names
// are compared in this form (serving.md §1). Errors are those of Split.
func Normalise(text string) (string, error) { return normalise(text) }
