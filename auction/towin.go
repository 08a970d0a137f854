package auction

import "math/bits"

// ToWin returns the lowest bid, in micros, with which a keyword of quality Q and this device
// modifier, in permille, gets a place. `others` are the candidates of other advertisers, as Order
// returns them; `own` are those of the keyword's own advertiser that it must beat. ok is false if
// no allowed bid would do.
func ToWin(keyword, quality, modifier uint64, others, own []Candidate, slots int, reserve uint64) (bid uint64, ok bool) {
	if quality == 0 || modifier == 0 {
		return 0, false
	}
	effective := max(reserve, 1)
	if slots >= 1 && len(others) >= slots {
		effective = max(effective, beating(keyword, quality, &others[slots-1]))
	}
	for i := range own {
		effective = max(effective, beating(keyword, quality, &own[i]))
	}
	hi, lo := bits.Mul64(effective, 1000)
	if hi > 0 {
		return 0, false
	}
	bid = ceilDiv(lo, modifier)
	return bid, bid <= MaxBid
}

// beating returns the lowest B with which a keyword of quality Q ranks before c.
func beating(keyword, quality uint64, c *Candidate) uint64 {
	if keyword < c.Keyword {
		return ceilDiv(c.Score, quality)
	}
	return c.Score/quality + 1
}
