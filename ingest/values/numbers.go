package values

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"

	"adshard/internal/money"
)

// Limits of serving.md §4 and §7.
const (
	microsPerUnit = 1_000_000
	maxBidMicros  = 10_000 * microsPerUnit
	maxMicros     = math.MaxInt64 // the most that a database can store
	maxPermille   = 10_000        // +900 %
	maxQuality    = 10
)

// Errors of numbers.
var (
	ErrPercent   = errors.New("not a percentage: perhaps a sign, digits, at most one decimal that is not 0, perhaps %")
	ErrQuality   = errors.New("not a whole number from 1 to 10")
	ErrNotMicros = errors.New("not a whole number of micros (1 unit = 1,000,000)")

	errNotMoney   = errors.New("not a money amount: digits, perhaps a point and 1 to 6 digits")
	errDecimals   = errors.New("more than 6 decimals")
	errBidTooHigh = errors.New("over 10,000 units")
	errTooLarge   = errors.New("too large")
	errModifier   = errors.New("not within -100 to +900")
)

// ParseMoney reads an amount in units and returns micros. It accepts digits, optionally followed by a point and 1 to 6
// digits.
func ParseMoney(s string) (micros uint64, err error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if !Digits(whole) || pointed && !Digits(fraction) {
		return 0, errNotMoney
	}
	if len(fraction) > 6 {
		return 0, errDecimals
	}
	if micros, ok := money.Parse(s); ok && micros <= maxMicros {
		return micros, nil
	}
	return 0, errTooLarge
}

// ParseBid is like ParseMoney for a bid, which is at most 10,000 units.
func ParseBid(s string) (uint64, error) {
	micros, err := ParseMoney(s)
	if errors.Is(err, errTooLarge) || err == nil && micros > maxBidMicros {
		return 0, errBidTooHigh
	}
	return micros, err
}

// ParseMicros returns a function that reads a whole number of micros up to a limit.
func ParseMicros(limit uint64) func(string) (uint64, error) {
	return func(s string) (uint64, error) {
		if !Digits(s) {
			return 0, ErrNotMicros
		}
		n, ok := number(s, limit)
		switch {
		case !ok && limit == maxBidMicros:
			return 0, errBidTooHigh
		case !ok:
			return 0, errTooLarge
		}
		return n, nil
	}
}

// FormatMoney writes micros as ParseMoney reads them, without trailing zeros.
func FormatMoney(micros uint64) string {
	return strings.TrimSuffix(strings.TrimRight(money.Format(micros), "0"), ".")
}

// ParsePercent reads a bid modifier as permille, 1000 for 0 %.
func ParsePercent(s string) (permille uint16, err error) {
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
	if !Digits(whole) || pointed && (!Digits(tenth) || len(tenth) != 1) {
		return 0, ErrPercent
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

// FormatPercent writes a bid modifier in permille as ParsePercent reads it.
func FormatPercent(permille uint16) string {
	return strconv.FormatFloat((float64(permille)-1000)/10, 'f', -1, 64)
}

// ParseQuality reads a quality score.
func ParseQuality(s string) (uint8, error) {
	if !Digits(s) {
		return 0, ErrQuality
	}
	n, ok := number(s, maxQuality)
	if !ok || n == 0 {
		return 0, ErrQuality
	}
	return uint8(n), nil
}

// FormatQuality writes a quality score.
func FormatQuality(q uint8) string { return strconv.Itoa(int(q)) }

// Digits reports whether a text consists of one or more digits.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// number reads digits. ok is false if the number is above limit.
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
