package console

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"adshard/internal/node/httpapi/api"
)

// narrowest is the width with which a slice is drawn at least, as a share of the ring: one pixel.
const narrowest = 1 / ringWidth

// ring draws slices by their keys, in the colours of their shards. The heat of a slice is its load for
// its width, relative to the mean of the ring, in steps of a factor of two. A slice of few keys is taken
// to be as wide as it is drawn, or as the mean slice if that is narrower; by the number of its keys, any
// load would give it the highest heat. Later arcs lie on top of earlier ones, so that no wide or cold
// slice hides a narrow or hot one.
func ring(list []api.SliceInfo, colours map[string]int) (arcs []arc) {
	least := min(narrowest, 1/float64(max(1, len(list))))
	for _, s := range list {
		x, width := extent(s).position()
		arcs = append(arcs, arc{SliceInfo: s, X: min(x, 1-narrowest) * ringWidth, Width: max(width, narrowest) * ringWidth,
			Heat: heat(s.Share, max(width, least)), Colour: colours[s.Slave]})
	}
	slices.SortFunc(arcs, func(a, b arc) int {
		return cmp.Or(cmp.Compare(b.Width, a.Width), cmp.Compare(a.Heat, b.Heat), cmp.Compare(a.X, b.X))
	})
	return arcs
}

// heat returns the heat of a part of the ring, from 0 to 9. The heat of the mean is 4.
func heat(share, width float64) int {
	if share <= 0 || width <= 0 {
		return 0
	}
	return min(9, max(1, 4+int(math.Round(math.Log2(share/width)))))
}

// keys is the range of a slice's keys, from the first to the last. Keys are integers, because two that
// lie close together would be the same floating-point number.
type keys struct{ first, last uint64 }

// extent returns the keys of a slice.
func extent(s api.SliceInfo) keys {
	first := keyOf(s.Lo)
	return keys{first, max(first, keyOf(s.Hi))}
}

// count returns the number of keys, at least 1.
func (k keys) count() float64 { return float64(k.last-k.first) + 1 }

// position returns where the keys begin on the ring, 0 to 1, and what share of it they take.
func (k keys) position() (at, width float64) {
	return math.Ldexp(float64(k.first), -64), math.Ldexp(k.count(), -64)
}

// keyOf reads a key of 16 hexadecimal digits.
func keyOf(text string) uint64 {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// shardsOf returns the names of the shards of slices, in order.
func shardsOf(list []api.SliceInfo) (names []string) {
	for _, s := range list {
		names = append(names, s.Slave)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
