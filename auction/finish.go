package auction

import (
	"cmp"
	"slices"
)

// Candidate is a keyword that takes part: B is at least 1 and at least the reserve, and nothing
// blocks it.
type Candidate struct {
	Advertiser, Keyword uint64 // ids
	// Score is R and Quality is Q of serving.md §4.
	Score, Quality uint64
}

// Placement is a candidate that won.
type Placement struct {
	Index    int    // index of the candidate in Finish's input
	Position int    // from 1
	Price    uint64 // micros, per click
	// SetBy is the keyword whose score set the price, or 0 if the reserve
	// did.
	SetBy uint64
}

// Order implements steps 1 and 2 of serving.md §5. Of each advertiser it takes the candidate with
// the highest score, or of those with equal scores the one with the lowest keyword id. It returns
// the indexes of these candidates, by score descending, then keyword id ascending. It does not
// modify candidates.
func Order(candidates []Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compare(&candidates[i], &candidates[j]) })
	seen := make(map[uint64]struct{}, len(order))
	return slices.DeleteFunc(order, func(i int) bool {
		n := len(seen)
		seen[candidates[i].Advertiser] = struct{}{}
		return len(seen) == n
	})
}

func compare(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword, b.Keyword))
}

// Finish implements steps 1 to 3 of serving.md §5. It returns at most slots winners in order. The
// price of each is the lowest, in micros, at which it keeps its place, but at least reserve. The
// next candidate in order sets a price even if it has no place itself, so the best slots + 1
// advertisers are enough for the same result.
func Finish(candidates []Candidate, slots int, reserve uint64) []Placement {
	order := Order(candidates)
	won := make([]Placement, max(0, min(slots, len(order))))
	for p := range won {
		won[p] = Placement{Index: order[p], Position: p + 1, Price: reserve}
		c := &candidates[order[p]]
		if p+1 == len(order) || c.Quality == 0 {
			continue
		}
		won[p].beat(c, &candidates[order[p+1]])
	}
	return won
}

// beat raises the price of a winner to the lowest at which it still ranks equal to or before the
// candidate `next`.
func (p *Placement) beat(winner, next *Candidate) {
	if price := ceilDiv(next.Score, winner.Quality); price > p.Price {
		p.Price, p.SetBy = price, next.Keyword
	}
}
