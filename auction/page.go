package auction

import "slices"

// Area is a placement of a page (serving.md §15).
type Area struct {
	Filter  int // candidates take part if they have this bit
	Slots   int
	Reserve uint64 // micros
}

// PageCandidate is a candidate for the areas whose filters it passes. A keyword may appear several times, with different filters.
type PageCandidate struct {
	Candidate
	Filters uint8 // bit i stands for filter i
}

// FinishPage fills the areas of a page in their order. Each place goes to the first remaining candidate, by score descending, then
// keyword id ascending. Its price is the lowest at which it ranks equal to or before the next remaining candidate of another
// advertiser, but at least the area's reserve. A keyword has at most one place on the page, an advertiser at most perAdvertiser.
// Indexes in the result refer to candidates.
func FinishPage(candidates []PageCandidate, areas []Area, perAdvertiser int) [][]Placement {
	p := page{candidates: candidates, order: make([]int, len(candidates)), most: perAdvertiser, places: make(map[uint64]int), keywords: make(map[uint64]bool)}
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortFunc(p.order, func(i, j int) int { return compare(&candidates[i].Candidate, &candidates[j].Candidate) })
	won := make([][]Placement, len(areas))
	for i := range areas {
		won[i] = p.fill(&areas[i])
	}
	return won
}

// page is a page that is being filled.
type page struct {
	candidates []PageCandidate
	order      []int
	most       int            // largest number of places of an advertiser
	places     map[uint64]int // number of places, by advertiser
	keywords   map[uint64]bool
}

// fill fills an area.
func (p *page) fill(a *Area) (won []Placement) {
	for len(won) < a.Slots {
		first := p.first(a.Filter, 0)
		if first < 0 {
			break
		}
		c := &p.candidates[first].Candidate
		p.places[c.Advertiser]++
		p.keywords[c.Keyword] = true
		at := Placement{Index: first, Position: len(won) + 1, Price: a.Reserve}
		if next := p.first(a.Filter, c.Advertiser); next >= 0 && c.Quality > 0 {
			at.beat(c, &p.candidates[next].Candidate)
		}
		won = append(won, at)
	}
	return won
}

// first returns the first remaining candidate that has a filter and is not of the advertiser `not`, or −1 if there is none.
func (p *page) first(filter int, not uint64) int {
	for _, i := range p.order {
		c := &p.candidates[i]
		if c.Filters>>filter&1 != 0 && c.Advertiser != not && !p.keywords[c.Keyword] && p.places[c.Advertiser] < p.most {
			return i
		}
	}
	return -1
}
