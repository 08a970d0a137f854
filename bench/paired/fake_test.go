package paired

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
)

// fake is a layout that looks at every keyword, with optional faults.
type fake struct {
	name     string
	provides layouts.Provides
	absent   bool
	// lies changes an answer.
	lies func(asked int, f *layouts.Found)
	// changes says whether its keywords can be changed, forgets that changes are
	// lost.
	changes, forgets bool
	// disk is the size that the layout reports; caches records the cache sizes
	// with which it is built.
	disk   uint64
	caches *[]uint64
	// turns records the layout's name whenever a searcher is used for the first
	// time.
	turns *[]string
	// took is the time that a search reports; sleeps is the time that it takes.
	took, sleeps time.Duration
}

func (l *fake) Name() string               { return l.name }
func (l *fake) Provides() layouts.Provides { return l.provides }

func (l *fake) Build(_ context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	if l.absent {
		return nil, fault.Newf(fault.Unavailable, "fake: build", "%s is not installed: install it", l.name)
	}
	o.Progress(1)
	if l.caches != nil {
		*l.caches = append(*l.caches, o.CacheBytes)
	}
	s := &fakeStore{fake: l, set: set, like: make([]int, set.Len())}
	for i := range s.like {
		s.like[i] = i
	}
	if l.changes {
		return &changingStore{s}, nil
	}
	return s, nil
}

type fakeStore struct {
	*fake
	set   *layouts.Set
	mu    sync.Mutex
	like  []int
	asked int
}

func (s *fakeStore) Searcher() (layouts.Searcher, error) {
	if s.turns != nil {
		*s.turns = append(*s.turns, s.name)
	}
	if s.took > 0 {
		return &timedSearcher{fakeSearcher{s}}, nil
	}
	return &fakeSearcher{s}, nil
}
func (s *fakeStore) Size() (layouts.Size, error) {
	return layouts.Size{Disk: s.disk, Memory: 1 << 40}, nil
}
func (s *fakeStore) Close() error { return nil }

type fakeSearcher struct{ *fakeStore }

func (s *fakeSearcher) Close() error { return nil }

type timedSearcher struct{ fakeSearcher }

func (s *timedSearcher) Took() time.Duration { return s.took }

func (s *fakeSearcher) Search(ctx context.Context, q *layouts.Query) (layouts.Found, error) {
	time.Sleep(s.sleeps)
	s.mu.Lock()
	defer s.mu.Unlock()
	var f layouts.Found
	for i, like := range s.like {
		if !slices.ContainsFunc(s.set.Of(like), func(w uint32) bool { return !slices.Contains(q.Words, s.set.Words[w]) }) {
			f.Matches++
			f.Sum += s.set.ID(i)
			f.Best = append(f.Best, s.set.ID(i))
		}
	}
	s.asked++
	if s.lies != nil {
		s.lies(s.asked, &f)
	}
	return f, ctx.Err()
}

type changingStore struct{ *fakeStore }

func (s *changingStore) Change(_ context.Context, to []layouts.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range to {
		if !s.forgets {
			s.like[c.Keyword] = c.Like
		}
	}
	return nil
}

// smallSet returns a set of n keywords with words from a small vocabulary.
func smallSet(n int) *layouts.Set {
	b := layouts.NewBuilder()
	for i := range n {
		if i%3 == 0 {
			b.Group(1, uint64(i%2+1))
		}
		for j := range 1 + i%3 {
			b.Word(fmt.Sprint("w", (i*7+j*3)%11))
		}
		b.Keyword(uint32(i), 5)
	}
	return b.Set()
}

func smallSetup(name string, n int) layouts.Setup {
	s := layouts.Setup{Name: name}
	for i := range n {
		q := &layouts.Query{Text: fmt.Sprint(name, " query ", i)}
		for j := range 1 + i%5 {
			q.Words = append(q.Words, fmt.Sprint("w", (i+j)%13)) // some are in no keyword
		}
		s.Queries = append(s.Queries, q)
	}
	return s
}
