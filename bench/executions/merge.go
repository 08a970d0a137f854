package executions

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// merged combines the outcomes of several runs into one for each layout and setup, in the
// order in which they first occur. It takes the run with the middle median, with the medians
// of all runs.
func merged(list []Outcome) (out []Outcome) {
	type key struct{ setup, layout string }
	var order []key
	of := make(map[key][]Outcome)
	for _, o := range list {
		k := key{o.Setup, o.Layout}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], o)
	}
	for _, k := range order {
		medians := make(map[int]float64)
		for _, o := range of[k] {
			maps.Copy(medians, o.Medians)
		}
		sorted := slices.Sorted(maps.Values(medians))
		middle := sorted[(len(sorted)-1)/2]
		o := slices.MinFunc(of[k], func(a, b Outcome) int {
			return cmp.Compare(math.Abs(a.Box.Median-middle), math.Abs(b.Box.Median-middle))
		})
		o.Medians = medians
		out = append(out, o)
	}
	return out
}
