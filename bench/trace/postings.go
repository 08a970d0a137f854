package trace

import (
	"cmp"
	"slices"

	"adshard/barrels/index"
	"adshard/schema/pb"
	"adshard/search"
)

// postings holds the keywords anchored at the terms of some queries.
type postings struct {
	byTerm map[uint64][]posting // the queries' terms; others are not kept
	// hashes holds each keyword's words: normalised, folded, term.
	hashes []uint64
}

// posting is one form of a keyword.
type posting struct {
	item    uint32
	keyword uint32 // numbers keywords with several forms, from 1; 0: it has one
	at      int    // in hashes
	words   uint8
	kind    search.MatchType
	live    bool // keyword and group are enabled
}

// frequencies counts, as the barrels do, how many keyword forms contain each
// term.
type frequencies map[uint64]uint32

// Frequency implements index.Frequencies.
func (f frequencies) Frequency(term uint64) uint32 { return f[term] }

func (f frequencies) add(item *pb.Item) {
	for _, k := range item.Keywords {
		for _, form := range k.Forms {
			for _, t := range form.Terms {
				f[t]++
			}
		}
	}
}

// newPostings returns empty postings for the terms of queries.
func newPostings(queries []*search.Query) *postings {
	p := &postings{byTerm: make(map[uint64][]posting)}
	for _, q := range queries {
		for _, t := range q.Terms {
			p.byTerm[t.Term] = nil
		}
	}
	return p
}

// add adds the keywords of an item that are anchored at a query's term.
func (p *postings) add(item *pb.Item, number uint32, f frequencies, keywords *uint32) {
	for _, k := range item.Keywords {
		id := uint32(0)
		if len(k.Forms) > 1 {
			*keywords++
			id = *keywords
		}
		for _, form := range k.Forms {
			if len(form.Terms) == 0 {
				continue
			}
			anchor := index.Rarest(f, form.Terms)
			list, wanted := p.byTerm[anchor]
			if !wanted {
				continue
			}
			p.byTerm[anchor] = append(list, posting{
				item: number, keyword: id, at: len(p.hashes), words: uint8(len(form.Terms)),
				kind: search.MatchType(k.Type), live: k.Enabled && item.Group.Enabled,
			})
			for i, t := range form.Terms {
				p.hashes = append(p.hashes, k.Norm[i], k.Fold[i], t)
			}
		}
	}
}

// scan compares one query with the postings.
type scan struct {
	postings *postings
	profile  search.Profile
	// position is the index of an item's cost in costs, plus 1.
	position map[uint32]int
	seen     map[uint32]bool // keywords with several forms
	costs    []Cost
	fits     []search.Fit
}

// query returns what each item costs, by rising item. The result is valid until
// the next call.
func (s *scan) query(q *search.Query) []Cost {
	clear(s.position)
	clear(s.seen)
	s.costs = s.costs[:0]
	m := search.NewMatcher(q, s.profile)
	for i := range q.Terms {
		for _, p := range s.postings.byTerm[q.Terms[i].Term] {
			s.posting(m, &p)
		}
	}
	slices.SortFunc(s.costs, func(a, b Cost) int { return cmp.Compare(a.Item, b.Item) })
	return s.costs
}

func (s *scan) posting(m *search.Matcher, p *posting) {
	at := s.position[p.item]
	if at == 0 {
		s.costs = append(s.costs, Cost{Item: p.item})
		at = len(s.costs)
		s.position[p.item] = at
	}
	c := &s.costs[at-1]
	c.Examined++
	if !p.live || p.keyword != 0 && s.seen[p.keyword] {
		return
	}
	s.fits = s.fits[:0]
	for w := range int(p.words) {
		h := s.postings.hashes[p.at+3*w:]
		s.fits = append(s.fits, m.Fit(h[0], h[1], h[2]))
	}
	if m.Level(p.kind, s.fits) != search.NoLevel {
		c.Matched++
		if p.keyword != 0 {
			s.seen[p.keyword] = true
		}
	}
}
