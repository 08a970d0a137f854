package console

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"adshard/internal/node/httpapi/api"
)

// ring draws slices by their keys. How hot one is depends on its load for its width, over the
// mean of the ring, in steps of a factor of two.
func ring(list []api.SliceInfo) (arcs []arc, names []string) {
	for _, s := range list {
		names = append(names, s.Slave)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, s := range list {
		lo, hi := position(s.Lo), position(s.Hi)
		a := arc{SliceInfo: s, X: lo * ringWidth, Width: max(0.5, (hi-lo)*ringWidth)}
		i, _ := slices.BinarySearch(names, s.Slave)
		a.Colour = i % colours
		a.Heat = heat(s.Share, hi-lo)
		arcs = append(arcs, a)
	}
	slices.SortFunc(arcs, func(a, b arc) int { return cmp.Compare(a.X, b.X) })
	return arcs, names
}

// heat returns how hot a part of the ring is: 4 is as hot as the mean.
func heat(share, width float64) int {
	if share <= 0 || width <= 0 {
		return 0
	}
	return min(9, max(1, 4+int(math.Round(math.Log2(share/width)))))
}

// position returns where a key of 16 hexadecimal digits is on the ring, 0 to 1.
func position(key string) float64 {
	n, err := strconv.ParseUint(key, 16, 64)
	if err != nil {
		return 0
	}
	return float64(n) / math.MaxUint64
}
