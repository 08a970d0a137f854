package auction

import (
	"math"
	"math/bits"
)

// Limits and units of serving.md §4.
const (
	// MaxBid is the highest bid, 10,000 units in micros.
	MaxBid = 10_000_000_000
	// MaxModifier is the highest device modifier, +900 %, in permille.
	MaxModifier = 10_000
	// NoModifier is the modifier, in permille, if none is set.
	NoModifier = 1000
	// MaxQuality is the highest Q before a scorer.
	MaxQuality = 1_000_000
)

// Modifier returns the device modifier in permille that applies to a group in a campaign: the
// group's if set, otherwise the campaign's if set, otherwise NoModifier. shown is false if either
// is set to −100 %: the group is then not shown on the device, whatever permille is.
func Modifier(group uint64, groupSet bool, campaign uint64, campaignSet bool) (permille uint64, shown bool) {
	shown = (!groupSet || group != 0) && (!campaignSet || campaign != 0)
	switch {
	case groupSet:
		return group, shown
	case campaignSet:
		return campaign, shown
	}
	return NoModifier, shown
}

// Rank returns the effective bid B in micros, Q and the score R = B × Q of
// serving.md §4. bid is in micros, modifier, match and variant are in permille,
// quality is 1 to 10.
func Rank(bid, modifier, quality, match, variant uint64) (effective, q, score uint64) {
	effective = mulDiv(bid, modifier, 1000)
	q = Quality(quality, match, variant)
	return effective, q, product(effective, q)
}

// Quality returns Q of serving.md §4. With the factors of match types and levels nothing is
// rounded, so Q is linear in the quality.
func Quality(quality, match, variant uint64) uint64 {
	// quality × 100,000 × match × variant ÷ 1,000,000, with the constants cancelled. The quotient
	// is the same.
	return mulDiv(product(quality, match), variant, 10)
}

// mulDiv returns floor(a × b ÷ d), computed with a product of 128 bits. d must be above 0. If the
// result does not fit into 64 bits, it returns the largest number.
func mulDiv(a, b, d uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi == 0 { // nearly always; the compiler turns it into a multiplication
		return lo / d
	}
	if hi >= d {
		return math.MaxUint64
	}
	quotient, _ := bits.Div64(hi, lo, d)
	return quotient
}

// mulDivUp returns ceil(a × b ÷ d), or the largest number if the result does not fit. d must be
// above 0.
func mulDivUp(a, b, d uint64) uint64 {
	quotient := mulDiv(a, b, d)
	if hi, lo := bits.Mul64(quotient, d); quotient < math.MaxUint64 {
		if h, l := bits.Mul64(a, b); h != hi || l != lo {
			quotient++
		}
	}
	return quotient
}

// product returns a × b, or the largest number if the result does not fit.
func product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// ceilDiv returns ceil(a ÷ b). b must be above 0.
func ceilDiv(a, b uint64) uint64 {
	quotient, rest := a/b, a%b
	if rest != 0 {
		quotient++
	}
	return quotient
}
