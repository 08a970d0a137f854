package linked

import (
	"context"

	"adshard/bench/layouts"
	"adshard/bench/measure"
)

// LInK is the layout "LInK".
type LInK struct{}

// Name implements layouts.Layout.
func (LInK) Name() string { return "LInK" }

// Provides implements layouts.Layout.
func (LInK) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// object is a keyword ready for use: what decides on a match, and what its record
// holds.
type object struct {
	id, bid uint64
	quality uint8
	text    string
	others  []uint64 // hashes of its words except the first
}

// Build implements layouts.Layout.
func (LInK) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := measure.Heap()
	s := &objects{byFirst: make(map[string][]*object)}
	err := each(ctx, set, o.Progress, func(i int) error {
		of := set.Of(i)
		k := &object{id: set.ID(i), bid: uint64(set.Bids[i]), quality: set.Qualities[i], text: string(set.Text(nil, i))}
		for _, w := range of[1:] {
			k.others = append(k.others, hash(set.Words[w]))
		}
		first := set.Words[of[0]]
		s.byFirst[first] = append(s.byFirst[first], k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.memory = measure.Grown(before)
	return s, nil
}

type objects struct {
	byFirst map[string][]*object
	memory  uint64
}

// Searcher implements layouts.Store.
func (s *objects) Searcher() (layouts.Searcher, error) {
	return &objectsSearcher{objects: s, query: make(map[uint64]struct{})}, nil
}

// Size implements layouts.Store.
func (s *objects) Size() (layouts.Size, error) { return layouts.Size{Memory: s.memory}, nil }

// Close implements layouts.Store.
func (s *objects) Close() error { return nil }

type objectsSearcher struct {
	*objects
	query map[uint64]struct{}
}

// Close implements layouts.Searcher.
func (s *objectsSearcher) Close() error { return nil }

// Search implements layouts.Searcher.
func (s *objectsSearcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	clear(s.query)
	for _, w := range q.Words {
		s.query[hash(w)] = struct{}{}
	}
	for _, w := range q.Words {
		for _, k := range s.byFirst[w] {
			if s.matches(k) {
				f.Matches++
				f.Sum += k.id
			}
		}
	}
	return f, nil
}

func (s *objectsSearcher) matches(k *object) bool {
	for _, h := range k.others {
		if _, ok := s.query[h]; !ok {
			return false
		}
	}
	return true
}
