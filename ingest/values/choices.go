package values

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

var (
	errStatus   = errors.New("unknown status: Enabled, Paused or Removed")
	errRotation = errors.New("unknown ad rotation: Optimize or Even")
	errMethod   = errors.New("unknown method: Location of presence; Location of presence or Area of interest")
	errType     = errors.New("unknown type: Broad, Phrase or Exact, Negative or Campaign Negative, or the latter before the former")
)

// Plain returns a heading, or a word of a cell, in the form in which it is compared: in lower case, without white
// space, _, . and -.
func Plain(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == '-' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
}

// ParseStatus reads a status.
func ParseStatus(s string) (backend.Status, error) {
	switch {
	case strings.EqualFold(s, "enabled"):
		return backend.Enable, nil
	case strings.EqualFold(s, "paused"):
		return backend.Pause, nil
	case strings.EqualFold(s, "removed"):
		return backend.Remove, nil
	}
	return backend.Keep, errStatus
}

// evenRotations and optimizeRotations are the values of Ad rotation in files, without what follows a colon, in the
// form that Plain returns.
var (
	evenRotations     = []string{"even", "rotate", "rotateevenly", "rotateindefinitely", "rotateadsevenly", "rotateadsindefinitely", "donotoptimize"}
	optimizeRotations = []string{"optimize", "optimizeforclicks", "optimizeforconversions", "conversionoptimize"}
)

// ParseRotation reads a rotation by its short or its long name, such as
// "Do not optimize: rotate ads indefinitely".
func ParseRotation(s string) (even bool, err error) {
	name, _, _ := strings.Cut(s, ":")
	name = Plain(name)
	switch {
	case slices.Contains(evenRotations, name):
		return true, nil
	case slices.Contains(optimizeRotations, name):
		return false, nil
	}
	return false, errRotation
}

// Choice returns a function that reads one of two values of a setting, in any letter case.
func Choice(setting, off, on string) func(string) (bool, error) {
	unknown := fmt.Errorf("unknown %s: %s or %s", setting, on, off)
	return func(s string) (bool, error) {
		switch {
		case strings.EqualFold(s, on):
			return true, nil
		case strings.EqualFold(s, off):
			return false, nil
		}
		return false, unknown
	}
}

// OneOf returns a function that returns `on` for true and `off` for false.
func OneOf(on, off string) func(bool) string {
	return func(is bool) string {
		if is {
			return on
		}
		return off
	}
}

// ParseMethod reads a location targeting method. It reports whether only the user's presence in a place counts, and
// not an interest in it.
func ParseMethod(cell string) (bool, error) {
	switch Plain(cell) {
	case "locationofpresence":
		return true, nil
	case "locationofpresenceorareaofinterest":
		return false, nil
	}
	return false, errMethod
}

// ParseLanguages reads names or codes, separated by ; or , and returns distinct codes in sorted order. It returns
// none if "all languages" is among them.
func ParseLanguages(s string) (backend.Languages, error) {
	names := strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' })
	if others := slices.DeleteFunc(slices.Clone(names), allLanguages); len(others) < len(names) {
		if len(others) == 0 {
			return "", nil
		}
		_, err := LanguageCodes(others)
		return "", err
	}
	return LanguageCodes(names)
}

func allLanguages(name string) bool {
	name = Plain(name)
	return name == "all" || name == "alllanguages"
}

// LanguageCodes reads names or codes of languages and returns distinct codes in sorted order.
func LanguageCodes(names []string) (backend.Languages, error) {
	var codes []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		code, ok := words.ParseLanguage(name)
		if !ok {
			return "", fmt.Errorf("unknown language %.40q: an English name or a code, e.g. Czech; en", name)
		}
		codes = append(codes, code)
	}
	if codes == nil {
		return "", errors.New("no language: names or codes, separated by ; or ,")
	}
	return backend.LanguagesOf(codes...), nil
}

// FormatLanguages writes languages as ParseLanguages reads them.
func FormatLanguages(l backend.Languages) string { return strings.Join(l.Codes(), ";") }

// Owner says whose negative a keyword is, or that it is a positive keyword.
type Owner uint8

// The kinds of keywords.
const (
	Positive Owner = iota
	GroupNegative
	CampaignNegative
)

// ParseType reads a criterion type that is not empty. A negative without a match type gets `ofText`, the match type
// of its text.
func ParseType(s string, ofText search.MatchType) (Owner, search.MatchType, error) {
	of := Positive
	for _, p := range []struct {
		prefix string
		of     Owner
	}{{"campaign negative", CampaignNegative}, {"negative", GroupNegative}} {
		if len(s) < len(p.prefix) || !strings.EqualFold(s[:len(p.prefix)], p.prefix) {
			continue
		}
		if s = s[len(p.prefix):]; s == "" {
			return p.of, ofText, nil
		}
		rest, spaced := strings.CutPrefix(s, " ")
		if !spaced {
			return p.of, 0, errType
		}
		of, s = p.of, rest
		break
	}
	t, err := ParseMatchType(s)
	return of, t, err
}

// ParseMatchType reads broad, phrase or exact.
func ParseMatchType(s string) (search.MatchType, error) {
	for _, t := range [...]search.MatchType{search.Broad, search.Phrase, search.Exact} {
		if strings.EqualFold(s, t.String()) {
			return t, nil
		}
	}
	return 0, errType
}

// Unwrap removes one pair of quotes or brackets from a keyword, and the white space just inside them. t is the match
// type that they denote.
func Unwrap(s string) (text string, t search.MatchType) {
	if n := len(s); n >= 2 {
		switch {
		case s[0] == '"' && s[n-1] == '"':
			return strings.TrimSpace(s[1 : n-1]), search.Phrase
		case s[0] == '[' && s[n-1] == ']':
			return strings.TrimSpace(s[1 : n-1]), search.Exact
		}
	}
	return s, search.Broad
}
