package layouttest

import (
	"cmp"
	"slices"

	"adshard/auction"
	"adshard/bench/layouts"
	"adshard/search"
)

// Oracle answers queries slowly: it looks at each keyword and each of its words.
type Oracle struct {
	set    *layouts.Set
	groups []uint32
	like   []int // for each keyword, the keyword whose words it has
}

// NewOracle returns the oracle of a set.
func NewOracle(s *layouts.Set) *Oracle {
	o := &Oracle{set: s, groups: s.GroupsOf(), like: make([]int, s.Len())}
	for i := range o.like {
		o.like[i] = i
	}
	return o
}

// Change changes keywords as layouts.Changer does.
func (o *Oracle) Change(to []layouts.Change) {
	for _, c := range to {
		o.like[c.Keyword] = c.Like
	}
}

// match is a matching keyword with the values that rank it.
type match struct{ id, advertiser, score uint64 }

// Found returns the complete answer to a query.
func (o *Oracle) Found(q *layouts.Query) layouts.Found {
	words := make(map[string]bool)
	for _, w := range q.Words {
		words[w] = true
	}
	var f layouts.Found
	var all []match
	for i := range o.set.Len() {
		if !o.matches(i, words) {
			continue
		}
		id := o.set.ID(i)
		f.Matches++
		f.Sum += id
		_, _, score := auction.Rank(uint64(o.set.Bids[i]), auction.NoModifier, uint64(o.set.Qualities[i]),
			search.Broad.Permille(), search.Identical.Permille())
		all = append(all, match{id, o.set.Groups[o.groups[i]].Advertiser, score})
	}
	f.Best = best(all)
	return f
}

func (o *Oracle) matches(i int, words map[string]bool) bool {
	for _, w := range o.set.Of(o.like[i]) {
		if !words[o.set.Words[w]] {
			return false
		}
	}
	return true
}

// best returns the ids of the best keyword of each of the best advertisers, by
// descending score and then by ascending id, one more than there are places.
func best(all []match) []uint64 {
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	var ids []uint64
	seen := make(map[uint64]bool)
	for _, c := range all {
		if !seen[c.advertiser] && len(ids) <= layouts.Slots {
			seen[c.advertiser] = true
			ids = append(ids, c.id)
		}
	}
	return ids
}
