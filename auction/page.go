package auction

import "slices"

// Area is a placement of a page (serving.md §15).
type Area struct {
	Filter  int // which candidates take part: those with this bit
	Slots   int
	Reserve uint64 // micros
}

// PageCandidate is a candidate of those areas of a page whose filters it has. A keyword may be given several times, each time with
// other filters.
type PageCandidate struct {
	Candidate
	Filters uint8 // bit i stands for the i-th
}

// FinishPage fills the areas of a page in their order: each place goes to the first that remains, by score descending, then
// keyword id ascending, and costs the least at which it ranks with or before the next that remains then and is of another
// advertiser, at least the area's reserve. A keyword has one place on the page, an advertiser at most perAdvertiser. Indexes are
// those of candidates.
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
	most       int            // places of an advertiser
	places     map[uint64]int // by advertiser
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

// first returns the first candidate with a filter that remains and is not of an advertiser, or −1.
func (p *page) first(filter int, not uint64) int {
	for _, i := range p.order {
		c := &p.candidates[i]
		if c.Filters>>filter&1 != 0 && c.Advertiser != not && !p.keywords[c.Keyword] && p.places[c.Advertiser] < p.most {
			return i
		}
	}
	return -1
}
