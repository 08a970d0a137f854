package inmemory

import (
	"context"
	"slices"
	"sync"

	"adshard/auction"
	"adshard/bench/layouts"
	"adshard/bench/measure"
	"adshard/search"
)

// Structs is the layout "structs": keywords as structs with their words as
// strings, in a map by their rarest word.
type Structs struct{}

// Name implements layouts.Layout.
func (Structs) Name() string { return "structs" }

// Provides implements layouts.Layout.
func (Structs) Provides() layouts.Provides {
	return layouts.Provides{Matches: true, Sum: true, Best: true}
}

// Build implements layouts.Layout.
func (Structs) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := measure.Heap()
	s := &structsStore{set: set, keywords: make([]keyword, set.Len()), byRarest: make(map[string][]*keyword)}
	for g := range set.Groups {
		if g&0xFFF == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if o.Progress != nil {
				o.Progress(float64(g) / float64(len(set.Groups)))
			}
		}
		for i := int(set.Groups[g].First); i < set.GroupEnd(g); i++ {
			s.keywords[i] = keyword{id: set.ID(i), advertiser: set.Groups[g].Advertiser, score: score(set, i)}
			s.put(i, i)
		}
	}
	s.memory = measure.Grown(before)
	return s, nil
}

// score returns the rank of keyword i if it matches.
func score(set *layouts.Set, i int) uint64 {
	_, _, r := auction.Rank(uint64(set.Bids[i]), auction.NoModifier, uint64(set.Qualities[i]),
		search.Broad.Permille(), search.Identical.Permille())
	return r
}

type keyword struct {
	id, advertiser, score uint64
	words                 []string
}

type structsStore struct {
	set      *layouts.Set
	memory   uint64
	mu       sync.RWMutex // guards the fields below
	keywords []keyword
	byRarest map[string][]*keyword
}

// put gives keyword i the words of keyword `like`.
func (s *structsStore) put(i, like int) {
	k := &s.keywords[i]
	of := s.set.Of(like)
	k.words = make([]string, len(of))
	for j, w := range of {
		k.words[j] = s.set.Words[w]
	}
	rarest := s.rarest(like)
	s.byRarest[rarest] = append(s.byRarest[rarest], k)
}

func (s *structsStore) rarest(i int) string {
	return s.set.Words[slices.MinFunc(s.set.Of(i), func(a, b uint32) int { return int(s.set.Counts[a]) - int(s.set.Counts[b]) })]
}

// Change implements layouts.Changer.
func (s *structsStore) Change(ctx context.Context, to []layouts.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range to {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := &s.keywords[c.Keyword]
		for _, w := range k.words {
			list := s.byRarest[w]
			if at := slices.Index(list, k); at >= 0 {
				s.byRarest[w] = slices.Delete(list, at, at+1)
				break
			}
		}
		s.put(c.Keyword, c.Like)
	}
	return nil
}

// Searcher implements layouts.Store.
func (s *structsStore) Searcher() (layouts.Searcher, error) {
	return &structsSearcher{structsStore: s, words: make(map[string]struct{})}, nil
}

// Size implements layouts.Store.
func (s *structsStore) Size() (layouts.Size, error) { return layouts.Size{Memory: s.memory}, nil }

// Close implements layouts.Store.
func (s *structsStore) Close() error { return nil }

type structsSearcher struct {
	*structsStore
	words map[string]struct{} // of the query
	top   search.Top[struct{}]
	best  []uint64
}

// Close implements layouts.Searcher.
func (s *structsSearcher) Close() error { return nil }

// Search implements layouts.Searcher.
func (s *structsSearcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	clear(s.words)
	for _, w := range q.Words {
		s.words[w] = struct{}{}
	}
	s.top.Reset(layouts.Slots + 1)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, w := range q.Words {
		for _, k := range s.byRarest[w] {
			if s.matches(k) {
				f.Matches++
				f.Sum += k.id
				s.top.Offer(k.advertiser, k.score, k.id, struct{}{})
			}
		}
	}
	s.best = s.best[:0]
	for _, r := range s.top.Ranked() {
		s.best = append(s.best, r.Keyword)
	}
	f.Best = s.best
	return f, nil
}

func (s *structsSearcher) matches(k *keyword) bool {
	for _, w := range k.words {
		if _, ok := s.words[w]; !ok {
			return false
		}
	}
	return true
}

var _ layouts.Changer = (*structsStore)(nil)
