package scorer

import (
	"math/bits"

	"adshard/auction"
)

const (
	// curveEnd is the first z at which the curve is as near to auction.MaxFactor as it gets.
	curveEnd = 2124
	// one stands for 1, and decay for e^(−1 ÷ 256).
	one   = 1 << 62
	decay = 4593706758521714574
)

var curve = newCurve()

// newCurve returns the curve for z from 0 to curveEnd. The rounding errors of the powers of e add up to less than 2⁻⁵⁰, and no
// value of the curve is within 0.0004 of the middle between two integers (TestCurve).
func newCurve() (table [curveEnd + 1]uint16) {
	power := uint64(one) // e to the power −z ÷ 256
	for z := range table {
		hi, lo := bits.Mul64(auction.MaxFactor, one)
		lo, carry := bits.Add64(lo, (one+power)/2, 0)
		nearest, _ := bits.Div64(hi+carry, lo, one+power)
		table[z] = uint16(nearest)
		hi, lo = bits.Mul64(power, decay)
		power = hi<<2 | lo>>62
	}
	return table
}

// factor returns the value of the curve at z.
func factor(z int64) uint64 {
	if z < 0 {
		return auction.MaxFactor - uint64(curve[min(-z, curveEnd)])
	}
	return uint64(curve[min(z, curveEnd)])
}
