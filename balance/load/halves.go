package load

import (
	"adshard/balance"
)

// halves divides the load of a slice among its items where not all are known one by
// one: the load of those measured is theirs, and the rest is spread by weight. If the
// slice's split key is known, up to which lies half of its load, each side of it is
// spread on its own: what lies there unevenly is not taken for even.
type halves struct {
	split     balance.Key // the last key of the left half; 0: unknown
	hot, rest [2]float64  // left and right of it: load measured, weight of the others
}

// halvesOf begins to sum up a slice; split is what is known of it, 0 if nothing is.
func halvesOf(s balance.Slice, split balance.Key) halves {
	if !splits(s, split) {
		split = 0
	}
	return halves{split: split}
}

// splits reports whether the slice can be cut behind a key.
func splits(s balance.Slice, k balance.Key) bool { return k != 0 && s.Lo <= k && k < s.Hi }

// side returns the side of a key: 0 is left, or all if the split key is unknown.
func (h *halves) side(k balance.Key) int {
	if h.split != 0 && k > h.split {
		return 1
	}
	return 0
}

// perWeight returns the load of a unit of weight of the items that are not measured, on
// either side, when the slice has this load in all.
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
