package console

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"adshard/internal/node/httpapi/api"
)

// narrowest is the least part of the ring that a slice is drawn with: a pixel.
const narrowest = 1 / ringWidth

// ring draws slices by their keys, in the colours of their shards. How hot one is depends on its load for
// its width, over the mean of the ring, in steps of a factor of two. A slice of few keys counts as wide
// as it is drawn, or as the mean slice if that is narrower. By the number of its keys any load would make
// it as hot as possible. Later arcs lie above earlier ones, so that no wide or cold slice hides a narrow
// or hot one.
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

// heat returns how hot a part of the ring is: 4 is as hot as the mean.
func heat(share, width float64) int {
	if share <= 0 || width <= 0 {
		return 0
	}
	return min(9, max(1, 4+int(math.Round(math.Log2(share/width)))))
}

// keys are those of a slice, from the first to the last. They are counted as integers: as parts of
// the ring, two that lie close are the same floating-point number.
type keys struct{ first, last uint64 }

// extent returns the keys of a slice.
func extent(s api.SliceInfo) keys {
	first := keyOf(s.Lo)
	return keys{first, max(first, keyOf(s.Hi))}
}

// count returns how many there are, at least 1.
func (k keys) count() float64 { return float64(k.last-k.first) + 1 }

// position returns where they begin on the ring, 0 to 1, and how much of it they are.
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
