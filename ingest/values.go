package ingest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
	"adshard/targeting"
	"adshard/targeting/zone"
)

// Limits of serving.md §4 and §7.
const (
	microsPerUnit = 1_000_000
	maxBidMicros  = 10_000 * microsPerUnit
	maxMicros     = math.MaxInt64 // what a database keeps
	maxPermille   = 10_000        // +900 %
	maxQuality    = 10
)

var (
	errNotMoney   = errors.New("not a money amount: digits, perhaps a point and 1 to 6 digits")
	errDecimals   = errors.New("more than 6 decimals")
	errBidTooHigh = errors.New("over 10,000 units")
	errTooLarge   = errors.New("too large")
	errPercent    = errors.New("not a percentage: perhaps a sign, digits, at most one decimal that is not 0, perhaps %")
	errModifier   = errors.New("not within -100 to +900")
	errQuality    = errors.New("not a whole number from 1 to 10")
	errStatus     = errors.New("unknown status: Enabled, Paused or Removed")
	errRotation   = errors.New("unknown ad rotation: Optimize or Even")
	errErase      = errors.New("[] restores a default; this column has none")
	errText       = errors.New("not valid text: damaged UTF-8 or half a UTF-16 pair")
	errEncoding   = errors.New("not valid text: the file is not UTF-8, but perhaps Windows-1252 or another encoding of one byte a character, as " +
		"spreadsheets save CSV: save it as CSV UTF-8, or convert it (iconv -f WINDOWS-1252 -t UTF-8 FILE)")
	errNUL  = errors.New("a zero byte (NUL): remove it, databases cannot keep it")
	errType = errors.New("unknown type: Broad, Phrase or Exact, Negative or Campaign Negative, or the latter before the former")
)

// parseMoney reads an amount in units as micros: digits, perhaps a point and 1
// to 6 digits.
func parseMoney(s string) (micros uint64, err error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if !digits(whole) || pointed && !digits(fraction) {
		return 0, errNotMoney
	}
	if len(fraction) > 6 {
		return 0, errDecimals
	}
	micros, ok := number(whole+fraction, maxMicros)
	for range 6 - len(fraction) {
		if micros > maxMicros/10 {
			ok = false
		}
		micros *= 10
	}
	if !ok {
		return 0, errTooLarge
	}
	return micros, nil
}

// parseBid is parseMoney of a bid, which is 10,000 units at most.
func parseBid(s string) (uint64, error) {
	micros, err := parseMoney(s)
	if errors.Is(err, errTooLarge) || err == nil && micros > maxBidMicros {
		return 0, errBidTooHigh
	}
	return micros, err
}

// parsePercent reads a bid modifier as permille, 1000 for 0 %.
func parsePercent(s string) (permille uint16, err error) {
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if number, ok := strings.CutSuffix(s, "%"); ok {
		s = strings.TrimRightFunc(number, unicode.IsSpace)
	}
	whole, tenth, pointed := strings.Cut(s, ".")
	if len(tenth) > 1 {
		tenth = tenth[:1] + strings.TrimRight(tenth[1:], "0")
	}
	if !digits(whole) || pointed && (!digits(tenth) || len(tenth) != 1) {
		return 0, errPercent
	}
	if !pointed {
		tenth = "0"
	}
	n, ok := number(whole+tenth, maxPermille)
	switch {
	case !ok || !negative && n > maxPermille-1000 || negative && n > 1000:
		return 0, errModifier
	case negative:
		return uint16(1000 - n), nil
	}
	return uint16(1000 + n), nil
}

func parseQuality(s string) (uint8, error) {
	if !digits(s) {
		return 0, errQuality
	}
	n, ok := number(s, maxQuality)
	if !ok || n == 0 {
		return 0, errQuality
	}
	return uint8(n), nil
}

func parseStatus(s string) (backend.Status, error) {
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

// evenRotations and optimizeRotations are the values of Ad rotation that
// files hold, up to a colon, as plainName writes them.
var (
	evenRotations     = []string{"even", "rotate", "rotateevenly", "rotateindefinitely", "rotateadsevenly", "rotateadsindefinitely", "donotoptimize"}
	optimizeRotations = []string{"optimize", "optimizeforclicks", "optimizeforconversions", "conversionoptimize"}
)

// parseRotation reads a rotation by its short or its long name, such as
// "Do not optimize: rotate ads indefinitely".
func parseRotation(s string) (even bool, err error) {
	name, _, _ := strings.Cut(s, ":")
	name = plainName(name)
	switch {
	case slices.Contains(evenRotations, name):
		return true, nil
	case slices.Contains(optimizeRotations, name):
		return false, nil
	}
	return false, errRotation
}

// choiceOf returns a function that reads one of two values of a setting; letter case does not count.
func choiceOf(setting, off, on string) func(string) (bool, error) {
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

// atMost returns a function that reads a text of so many bytes at most.
func atMost(most int) func(string) (string, error) {
	long := fmt.Errorf("a text of more than %d bytes: shorten it", most)
	return func(s string) (string, error) {
		if len(s) > most {
			return "", long
		}
		return s, nil
	}
}

var errDate = errors.New("not a date such as 2026-03-31")

// parseDate reads a date as the databases keep it.
func parseDate(s string) (string, error) {
	d, ok := targeting.ParseDate(s)
	if !ok {
		return "", errDate
	}
	return d.String(), nil
}

// zones checks names of time zones. It remembers the last one: many rows have the same,
// and looking one up may read a file.
type zones struct{ last string }

func (z *zones) parse(name string) (string, error) {
	if name != z.last || name == "" {
		if _, err := zone.Load(name); err != nil {
			return "", err
		}
		z.last = strings.Clone(name)
	}
	return z.last, nil
}

// parseLanguages reads names or codes, separated by ; or , into sorted
// distinct codes; none if all languages are among them.
func parseLanguages(s string) (backend.Languages, error) {
	names := strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' })
	if others := slices.DeleteFunc(slices.Clone(names), allLanguages); len(others) < len(names) {
		if len(others) == 0 {
			return "", nil
		}
		_, err := languageCodes(others)
		return "", err
	}
	return languageCodes(names)
}

func allLanguages(name string) bool {
	name = plainName(name)
	return name == "all" || name == "alllanguages"
}

func languageCodes(names []string) (backend.Languages, error) {
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

// owner is whose a keyword of some criterion type is.
type owner uint8

const (
	positive owner = iota
	groupNegative
	campaignNegative
)

// parseType reads a criterion type that is not empty. A negative without a match type
// has that of its text.
func parseType(s string, ofText search.MatchType) (owner, search.MatchType, error) {
	of := positive
	for _, p := range []struct {
		prefix string
		of     owner
	}{{"campaign negative", campaignNegative}, {"negative", groupNegative}} {
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
	t, err := parseMatchType(s)
	return of, t, err
}

func parseMatchType(s string) (search.MatchType, error) {
	for _, t := range [...]search.MatchType{search.Broad, search.Phrase, search.Exact} {
		if strings.EqualFold(s, t.String()) {
			return t, nil
		}
	}
	return 0, errType
}

// unwrap takes one pair of quotes or brackets and the white space just inside
// from a keyword; t is the type that they denote.
func unwrap(s string) (text string, t search.MatchType) {
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

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// number reads digits; not ok: above limit.
func number(s string, limit uint64) (n uint64, ok bool) {
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if n > (limit-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
