package search

import (
	"cmp"
	"slices"

	"adshard/targeting"
)

// MaxPlacements is the largest number of placements of a page (serving.md §15).
const MaxPlacements = 8

// Page asks for the hits of several placements at once (serving.md §15). Slots of its request counts the places of all placements
// together.
type Page struct {
	// Filters has 1 to MaxPlacements filters. Placements with equal filters share one.
	Filters []Filter
	// PerAdvertiser is the number of places of the page that one advertiser may have, at least 1.
	PerAdvertiser int
}

// Filter is what a placement demands of candidates in addition to the reserve and the blocks of the request.
type Filter struct {
	// Reserve is the lowest bid that takes part, in micros.
	Reserve uint64
	// Blocks and Lists are like those of targeting.Context.
	Blocks []*targeting.Blocks
	Lists  []targeting.ListVersion
}

// Kept returns the number of hits that an answer keeps, and how many of them may be of one advertiser. With a page both numbers are
// per filter. With the names of serving.md §15 that many suffice:
//
// A slave leaves out nothing of the first S + n of the whole list. Of each advertiser at most n keywords stand before a keyword
// in the slave's list, and all of them stand before it in the whole list's order, too: so the whole list has at least as many of
// this advertiser before it. A keyword within the first n of its advertiser, and within the first S + n of the list, is so on
// its slave as well.
//
// A winner is among the first S. Let w of advertiser A win. A then has fewer than n places, so fewer than n keywords of A stand
// before w: one of n would remain, and have won. Thus w is in the list. What stands before w there does not remain: A's have
// places; another advertiser's either have places, or it has n places, and the list has no more than n of its keywords. Either
// way the advertiser has at least as many places as keywords before w. Fewer than S places are given, so fewer than S keywords
// stand before w.
//
// The next candidate is among the first S + n. As before it is in the list, and before it stand at most n keywords of A and, of
// each other advertiser, its own included, no more than that has places. A has at least one place, so the others have at most S
// − 1: at most S − 1 + n keywords stand before it.
func (r *Request) Kept() (hits, perAdvertiser int) {
	if r.Page == nil {
		return r.Slots + 1, 1
	}
	n := min(r.Page.PerAdvertiser, r.Slots)
	return r.Slots + n, n
}

// MergePage merges the answers to a request with a page, as Merge does without one: each filter gets the hits of one search over all
// parts. Each answer must have a count for each filter.
func MergePage(answers []*Answer, r *Request) *Answer {
	sum := &Answer{CountsExact: true, Filtered: make([]uint64, len(r.Page.Filters))}
	first := true
	for _, a := range answers {
		if a != nil {
			sum.add(a, first)
			first = false
			for f := range sum.Filtered {
				sum.Filtered[f] += a.Filtered[f]
			}
		}
	}
	sum.CountsExact = sum.CountsExact && !first
	sum.Hits = pageHits(answers, r)
	return sum
}

// pageHits returns the best hits of each filter. The Filters of each hit say in which filters it is among the best.
func pageHits(answers []*Answer, r *Request) []Hit {
	kept := make(map[*Hit]uint8)
	var top Top[*Hit]
	for f := range r.Page.Filters {
		top.ResetEach(r.Kept())
		for _, a := range answers {
			if a == nil {
				continue
			}
			for i := range a.Hits {
				if h := &a.Hits[i]; h.Filters>>f&1 != 0 {
					top.Offer(h.Advertiser, h.Score, h.Keyword, h)
				}
			}
		}
		for _, best := range top.Ranked() {
			kept[best.Value] |= 1 << f
		}
	}
	hits := make([]Hit, 0, len(kept))
	for h, filters := range kept {
		hits = append(hits, *h)
		hits[len(hits)-1].Filters = filters
	}
	SortHits(hits)
	return hits
}

// SortHits sorts the hits of a page: by Score descending, then Keyword, then Ad ascending.
func SortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Ad, b.Ad))
	})
}
