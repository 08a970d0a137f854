package block

import (
	"math/bits"

	"adshard/auction"
	"adshard/search"
)

// Bound is the largest score that a block can reach on one device at the best
// level: Own of the entries whose group sets the modifier, Inherited of the
// others, before the campaign's modifier.
type Bound struct{ Own, Inherited uint64 }

// add raises the bounds of all devices to what an entry can reach.
func (b *bounds) add(bid uint64, quality, matchType uint8, modifiers *[search.Devices]uint16) {
	q := auction.Quality(uint64(quality), search.MatchType(matchType).Permille(), search.Identical.Permille())
	plain := satMul(bid, q)
	for d, m := range modifiers {
		if m == NotSet {
			b[d].Inherited = max(b[d].Inherited, plain)
		} else {
			b[d].Own = max(b[d].Own, satMul(bid*uint64(m)/1000, q))
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
