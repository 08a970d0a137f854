package block

import (
	"math/bits"

	"adshard/auction"
	"adshard/search"
	"adshard/targeting"
)

// Bound is the largest score that a block can reach on one device at the best
// level: Own of the entries whose group sets the modifier, Inherited of the
// others, before the campaign's modifier.
type Bound struct{ Own, Inherited uint64 }

// Reach is the largest score at the best level that an entry can reach when its campaign's modifier on the device is at most
// maxModifier and its campaign's targeting multiplies bids by at most maxFactor (permille, each at least 1000).
func (b Bound) Reach(maxModifier, maxFactor uint64) uint64 {
	own := b.Own
	if maxFactor > 1000 { // it is of a bid that was rounded down before the factor: what is lost is less than the largest quality
		own = mulPermille(satAdd(own, auction.MaxQuality), maxFactor)
	}
	return max(own, mulPermille(b.Inherited, min((maxModifier*maxFactor+999)/1000, targeting.MaxModifier)))
}

// mulPermille returns ceil(a × permille ÷ 1000), at most the largest number.
func mulPermille(a, permille uint64) uint64 {
	hi, lo := bits.Mul64(a, permille)
	lo, carry := bits.Add64(lo, 999, 0)
	if hi += carry; hi >= 1000 {
		return ^uint64(0)
	}
	q, _ := bits.Div64(hi, lo, 1000)
	return q
}

func satAdd(a, b uint64) uint64 { return max(a, a+b) }

// add raises the bounds of all devices to what an entry can reach. A group's own audiences and sites multiply what it reaches by
// at most a factor; 0: it has none.
func (b *bounds) add(bid uint64, quality, matchType uint8, modifiers *[search.Devices]uint16, factor uint64) {
	q := auction.Quality(uint64(quality), search.MatchType(matchType).Permille(), search.Identical.Permille())
	lost := min(factor, 1) // at most, of a bid that is rounded down before the factor
	q *= max(factor, 1)
	plain := satMul(bid, q)
	for d, m := range modifiers {
		if m == NotSet {
			b[d].Inherited = max(b[d].Inherited, plain)
		} else {
			b[d].Own = max(b[d].Own, satMul(bid*uint64(m)/1000+lost, q))
		}
	}
}

// bounds are the bounds by device.
type bounds [search.Devices]Bound

// satMul returns a × b, at most the largest number.
func satMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}
