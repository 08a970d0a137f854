package trace

import (
	"cmp"
	"slices"

	"adshard/search"
)

// Topics holds the postings that queries look at, by term: if the postings anchored at
// one term are on one slave, that slave is slow for queries with the term.
type Topics struct {
	// Terms holds the terms of all queries that have postings, rising. The items of term
	// t, rising, are at Starts[t] to Starts[t+1] of Items; Postings holds the number of
	// postings of each.
	Terms    []uint64
	Starts   []int
	Items    []uint32
	Postings []uint32
	// The terms of query q, as indexes of Terms, are at Asked[q] to Asked[q+1] of Of.
	Asked []int
	Of    []uint32
}

// Term calls visit for each item with postings anchored at a term, by rising key.
func (t *Topics) Term(term uint32, visit func(item, postings uint32)) {
	for i := t.Starts[term]; i < t.Starts[term+1]; i++ {
		visit(t.Items[i], t.Postings[i])
	}
}

// Query returns the terms of a query, as indexes into Terms.
func (t *Topics) Query(q int) []uint32 { return t.Of[t.Asked[q]:t.Asked[q+1]] }

// Main returns, for each item with postings that a query looks at, the term under which
// most of these postings are.
func (t *Topics) Main(q int) map[uint32]uint64 {
	out, most := make(map[uint32]uint64), make(map[uint32]uint32)
	for _, term := range t.Query(q) {
		t.Term(term, func(item, postings uint32) {
			if postings > most[item] {
				out[item], most[item] = t.Terms[term], postings
			}
		})
	}
	return out
}

// topics sums up the postings by term and item.
func (p *postings) topics(queries []*search.Query) Topics {
	t := Topics{Starts: []int{0}, Asked: []int{0}}
	for term, list := range p.byTerm {
		if len(list) > 0 {
			t.Terms = append(t.Terms, term)
		}
	}
	slices.Sort(t.Terms)
	for _, term := range t.Terms {
		list := slices.Clone(p.byTerm[term])
		slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.item, b.item) })
		for i, v := range list {
			if i > 0 && v.item == list[i-1].item {
				t.Postings[len(t.Postings)-1]++
				continue
			}
			t.Items = append(t.Items, v.item)
			t.Postings = append(t.Postings, 1)
		}
		t.Starts = append(t.Starts, len(t.Items))
	}
	for _, q := range queries {
		for _, v := range q.Terms {
			if i, ok := slices.BinarySearch(t.Terms, v.Term); ok {
				t.Of = append(t.Of, uint32(i))
			}
		}
		t.Asked = append(t.Asked, len(t.Of))
	}
	return t
}
