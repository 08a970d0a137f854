package targeting

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// decimal reads a number with at most the given number of decimals, as a multiple of the last decimal place:
// decimal("-12.5", 1) is −125. Zeros after the last decimal place are allowed. It returns false if the text has
// more decimals or is not a number.
func decimal(s string, places int) (int64, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, part, pointed := strings.Cut(digits, ".")
	if pointed && part == "" || whole == "" {
		return 0, false
	}
	if len(part) > places {
		part = part[:places] + strings.TrimRight(part[places:], "0")
	}
	if len(part) > places || len(whole) > 12 {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", places-len(part)), 10, 63)
	if err != nil {
		return 0, false
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

// formatDecimal is the inverse of decimal.
func formatDecimal(n int64, places int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	unit := int64(math.Pow10(places))
	s := sign + strconv.FormatInt(n/unit, 10)
	if n%unit == 0 {
		return s
	}
	part := strconv.FormatInt(unit+n%unit, 10)[1:]
	return s + "." + strings.TrimRight(part, "0")
}

var errModifier = errors.New("a modifier is −90 to 900 percent with at most one decimal")

// parsePercent reads a modifier in percent and returns it in permille.
func parsePercent(s string) (uint16, error) {
	n, ok := decimal(s, 1)
	if !ok || n < minModifier-1000 || n > MaxModifier-1000 {
		return 0, errModifier
	}
	return uint16(1000 + n), nil
}

// formatPercent is the inverse of parsePercent.
func formatPercent(permille uint16) string { return formatDecimal(int64(permille)-1000, 1) }
