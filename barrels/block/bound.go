package block

import (
	"math/bits"

	"adshard/auction"
	"adshard/search"
	"adshard/targeting"
)

// Bound is the largest score that a block can reach on one device at the best level, before the campaign's modifier. Own is for the entries
// whose group sets the modifier, Inherited for the others.
type Bound struct{ Own, Inherited uint64 }

// Reach returns the largest score at the best level that an entry can reach if its campaign's modifier on the device is at most maxModifier
// and its campaign's targeting multiplies bids by at most maxFactor (permille, each at least 1000).
func (b Bound) Reach(maxModifier, maxFactor uint64) uint64 {
	if maxModifier == 1000 && maxFactor == 1000 {
		return max(b.Own, b.Inherited)
	}
	own := b.Own
	if maxFactor > 1000 { // own is of a bid rounded down before the factor: the loss is less than the largest quality
		own = mulPermille(satAdd(own, auction.MaxQuality), maxFactor)
	}
	return max(own, mulPermille(b.Inherited, min((maxModifier*maxFactor+999)/1000, targeting.MaxModifier)))
}

// mulPermille returns ceil(a × permille ÷ 1000), or the largest number if it overflows.
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

// add raises the bounds of all devices to what an entry can reach. factor bounds the multiple by which the group's own audiences and sites
// raise bids, or is 0 if it has none.
func (b *bounds) add(bid uint64, quality, matchType uint8, modifiers *[search.Devices]uint16, factor uint64) {
	b.addProduct(bid, auction.Quality(uint64(quality), search.MatchType(matchType).Permille(), search.Identical.Permille()), modifiers, factor)
}

// addProduct is add for a known quality Q.
func (b *bounds) addProduct(bid, q uint64, modifiers *[search.Devices]uint16, factor uint64) {
	lost := min(factor, 1) // at most this much of a bid is rounded away before the factor
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

// satMul returns a × b, or the largest number if it overflows.
func satMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}

const (
	// bidUnit is the unit of the ratio of a bound to the largest bid.
	bidUnit = 10_000
	// LeastBidRatio is the ratio for the least Q at the best level, MostBidRatio for the largest Q.
	LeastBidRatio, MostBidRatio = 8, auction.MaxQuality / bidUnit
)

// BidRatio returns the ratio of the block's bounds to its largest bids, in units of bidUnit, rounded down and at most MostBidRatio. It is Q
// if all keywords have the same Q. A block with a keyword that bids a reserve therefore reaches at least the ratio times the reserve, with
// any modifiers and factors.
func (v *View) BidRatio() uint8 {
	var bids bounds
	var group Group
	of := -1
	for i := range v.Len() {
		_, bid, g, _, flags := v.Detail(i)
		if flags&(Enabled|HasBid) != Enabled|HasBid {
			continue
		}
		if g != of {
			group, of = v.Group(g), g
		}
		if group.Flags&GroupLive == GroupLive {
			bids.addProduct(bid, 1, &group.Modifiers, GroupFactor(group.Flags))
		}
	}
	ratio := uint8(MostBidRatio)
	for d := range bids {
		bound := v.Bound(search.Device(d))
		ratio = min(ratio, ratioOf(bound.Own, bids[d].Own), ratioOf(bound.Inherited, bids[d].Inherited))
	}
	return ratio
}

// ratioOf returns the ratio of a bound to a bid in units of bidUnit, rounded down.
func ratioOf(bound, bid uint64) uint8 {
	if bid == 0 {
		return MostBidRatio
	}
	return uint8(min(bound/bid/bidUnit, MostBidRatio))
}
