package search

import (
	"slices"

	"adshard/search/words"
)

// MaxQueryWords and MaxQueryUnits are the numbers of words and units of a query that are used; what
// comes after them is ignored (serving.md §1.5).
const (
	MaxQueryWords = 32
	MaxQueryUnits = words.MaxKeywordUnits
)

// Units returns the units of a query's text that are used, in order: its words, and the units of each
// run as words of their own. joined has bit i if a run can go on from unit i−1 to unit i, whatever
// stands between them. truncated says that the text has more. Errors are those of words.Split.
func Units(text string) (list []words.Word, joined uint64, truncated bool, err error) {
	split, err := words.Split(text)
	if err != nil {
		return nil, 0, false, err
	}
	truncated = len(split) > MaxQueryWords
	split = split[:min(len(split), MaxQueryWords)]
	if !slices.ContainsFunc(split, func(w words.Word) bool { return words.IsRun(w.Normalised) }) {
		return split, 0, truncated, nil
	}
	var units []string
	for _, w := range split {
		units = words.AppendUnits(units[:0], w.Normalised)
		for i, unit := range units {
			if len(list) == MaxQueryUnits {
				return list, joined, true, nil
			}
			if i > 0 || len(list) > 0 && goesOn(list[len(list)-1].Normalised, unit) {
				joined |= 1 << len(list)
			}
			list = append(list, words.Word{Normalised: unit, Fold: unit})
			if len(units) == 1 {
				list[len(list)-1] = w
			}
		}
	}
	return list, joined, truncated, nil
}

// goesOn reports whether a run can have two units, one after the other. Two parts of one word in
// katakana cannot follow one another in a run, which would have the whole word as its unit.
func goesOn(a, b string) bool {
	return words.IsRun(a) && words.IsRun(b) && words.Units(a+b) == 2
}
