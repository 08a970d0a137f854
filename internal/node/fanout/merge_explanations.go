package fanout

import (
	"cmp"
	"slices"

	"adshard/search"
)

// mergeExplanations merges the explanations of parts that do not overlap. It skips nil ones.
func mergeExplanations(parts []*search.Explanation, limit int) *search.Explanation {
	sum := new(search.Explanation)
	first := true
	for _, p := range parts {
		if p == nil {
			continue
		}
		sum.Matches = append(sum.Matches, p.Matches...)
		sum.Total += p.Total
		for i, n := range p.Counts {
			sum.Counts[i] += n
		}
		sum.Width = sum.Width.Add(p.Width)
		if first || p.AppliedClock < sum.AppliedClock {
			sum.AppliedClock = p.AppliedClock
		}
		first = false
	}
	slices.SortFunc(sum.Matches, func(a, b search.Explained) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword, b.Keyword))
	})
	if len(sum.Matches) > limit {
		sum.Matches = sum.Matches[:max(limit, 0)]
	}
	return sum
}
