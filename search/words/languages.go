package words

import (
	"math/bits"
	"strings"

	"adshard/fault"
)

// Languages is a set of languages whose words have stems in a cluster. The zero value is Default. All processes of a cluster have the same set, since they name it in the version of
// their words.
type Languages uint64 // bit i: whether the set differs from the default in languages[i]

// Default are Czech and English.
const Default Languages = 0

// ParseLanguages reads a list of names or codes of languages, with commas between them. An empty list is
// the default. Errors: fault.Invalid for a name that is not known or has no stemmer.
func ParseLanguages(list string) (Languages, error) {
	if strings.TrimSpace(list) == "" {
		return 0, nil
	}
	var in uint64
	for name := range strings.SplitSeq(list, ",") {
		code, known := ParseLanguage(name)
		if !known || !HasStemmer(code) {
			return 0, fault.Newf(fault.Invalid, "words: languages", "no stems are known in %q; use some of %s",
				strings.TrimSpace(name), strings.Join(Stemmed(), ", "))
		}
		in |= 1 << rowOf(code)
	}
	return Languages(in ^ defaults), nil
}

// Stemmed returns the codes of all languages that have a stemmer, sorted.
func Stemmed() []string {
	var list []string
	for i := range languages {
		if languages[i].stemmer.stem != nil {
			list = append(list, languages[i].code)
		}
	}
	return list
}

// MarshalText returns the codes as in a configuration (encoding.TextMarshaler).
func (l Languages) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLanguages (encoding.TextUnmarshaler).
func (l *Languages) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLanguages(string(text))
	return err
}

// Codes returns the codes of the languages, sorted.
func (l Languages) Codes() []string {
	in := l.rows()
	list := make([]string, 0, bits.OnesCount64(in))
	for ; in != 0; in &= in - 1 {
		list = append(list, languages[bits.TrailingZeros64(in)].code)
	}
	return list
}

// Has reports whether the set has the language with a code.
func (l Languages) Has(code string) bool {
	i := rowOf(code)
	return i >= 0 && l.rows()>>i&1 == 1
}

// String returns the codes with commas between them, as ParseLanguages reads them.
func (l Languages) String() string { return strings.Join(l.Codes(), ",") }

// rows returns the set of the languages' indexes in the table.
func (l Languages) rows() uint64 { return uint64(l) ^ defaults }

// defaults are the rows of the default.
var defaults uint64 = 1<<rowOf("cs") | 1<<rowOf("en")

// rowOf returns the index of a language in the table, or -1.
func rowOf(code string) int {
	for i := range languages {
		if languages[i].code == code {
			return i
		}
	}
	return -1
}
