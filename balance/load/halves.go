package load

import (
	"adshard/balance"
)

// halves divides the load of a slice among its items if not all of their loads are
// measured. Measured items have their own load, and the rest is spread over the others
// by weight. If the slice's split key is known, so that half of the load is on each
// side of it, each side is spread on its own. So a difference between the two sides is
// preserved.
type halves struct {
	split     balance.Key // the last key of the left half; 0 if unknown
	hot, rest [2]float64  // left and right of split: measured load, and weight of the other items
}

// halvesOf begins to add up a slice; split is its split key, or 0 if unknown.
func halvesOf(s balance.Slice, split balance.Key) halves {
	if !splits(s, split) {
		split = 0
	}
	return halves{split: split}
}

// splits reports whether the slice can be cut after key k, so that both parts have
// keys.
func splits(s balance.Slice, k balance.Key) bool { return k != 0 && s.Lo <= k && k < s.Hi }

// side returns the side on which a key is: 0 for left, 1 for right. It is always 0 if
// the split key is unknown.
func (h *halves) side(k balance.Key) int {
	if h.split != 0 && k > h.split {
		return 1
	}
	return 0
}

// perWeight returns, for each side, the load per unit of weight of the items that are
// not measured, given the load of the whole slice.
func (h *halves) perWeight(load float64) (out [2]float64) {
	weight := h.rest[0] + h.rest[1]
	if weight == 0 {
		return out
	}
	unknown := max(0, load-h.hot[0]-h.hot[1])
	if h.rest[0] == 0 || h.rest[1] == 0 {
		return [2]float64{unknown / weight, unknown / weight}
	}
	left := min(max(0, load/2-h.hot[0]), unknown)
	return [2]float64{left / h.rest[0], (unknown - left) / h.rest[1]}
}
