package values

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"adshard/targeting"
)

const minLocationModifier = 100 // permille, −90 %

// Errors of circles.
var (
	ErrRadius = errors.New("not a radius of 100 m to 800 km: a number, optionally with mi or km")
	ErrUnit   = errors.New("the unit of the radius is mi or km")

	errCircle      = errors.New("not a circle such as (10mi:33.5303:-111.836502), of 100 m to 800 km")
	errLocationBid = errors.New("not within -90 to +900")
)

// ParseCircle reads (10mi:33.530300:-111.836502).
func ParseCircle(cell string) (c targeting.Circle, err error) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(cell, "("), ")"), ":")
	if len(parts) != 3 || !strings.HasSuffix(cell, ")") {
		return c, errCircle
	}
	point, err := targeting.ParsePoint(strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2]))
	if err != nil {
		return c, err
	}
	radius, ok := ParseRadius(SplitUnit(strings.TrimSpace(parts[0])))
	if !ok {
		return c, errCircle
	}
	return targeting.Circle{Point: point, Radius: radius}, nil
}

// TwoNumbers splits a cell that consists of two numbers. ok is false if it does not.
func TwoNumbers(cell string) (lat, lon string, ok bool) {
	i := strings.IndexAny(cell, ",:;")
	if i < 0 {
		return "", "", false
	}
	lat, lon = strings.TrimSpace(cell[:i]), strings.TrimSpace(cell[i+1:])
	return lat, lon, isNumber(lat) && isNumber(lon)
}

func isNumber(s string) bool {
	whole, part, pointed := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return Digits(whole) && (!pointed || Digits(part))
}

// SplitUnit cuts mi or km off a length. unit is "" if the length has none.
func SplitUnit(s string) (length, unit string) {
	for _, unit := range [...]string{"mi", "km"} {
		if at := len(s) - len(unit); at >= 0 && strings.EqualFold(s[at:], unit) {
			return strings.TrimSpace(s[:at]), unit
		}
	}
	return s, ""
}

// metresOf holds the lengths of units, in millimetres.
var metresOf = map[string]int64{"mi": 1_609_344, "km": 1_000_000}

// ParseRadius reads a radius in a unit and returns whole metres, rounded down after the bounds are checked.
func ParseRadius(length, unit string) (uint32, bool) {
	const longest = 20
	if len(length) > longest || !isNumber(length) || strings.HasPrefix(length, "-") || metresOf[unit] == 0 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(length)
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(metresOf[unit], 1000))
	if r.Cmp(big.NewRat(targeting.MinRadius, 1)) < 0 || r.Cmp(big.NewRat(targeting.MaxRadius, 1)) > 0 {
		return 0, false
	}
	return uint32(new(big.Int).Quo(r.Num(), r.Denom()).Uint64()), true
}

// ParseLocationModifier reads a modifier of −90 to +900 % as permille.
func ParseLocationModifier(cell string) (uint16, error) {
	n, err := ParsePercent(cell)
	if err == nil && n < minLocationModifier || errors.Is(err, errModifier) {
		return 0, errLocationBid
	}
	return n, err
}

// FormatDegrees returns millionths of a degree as degrees.
func FormatDegrees(micro int32) string { return strconv.FormatFloat(float64(micro)/1e6, 'f', -1, 64) }
