package served

import (
	"context"
	"errors"
	"slices"
	"sync"

	"adshard/barrels"
	"adshard/bench/layouts"
	"adshard/schema/pb"
	"adshard/search"
)

// Store is a slave's store. It may be changed while it is searched. Its maintenance
// runs in the background, as in a slave.
type Store struct {
	barrels  barrels.Store
	exact    bool
	expands  bool   // each search expands its text
	before   uint64 // held by the process before the store was built
	matching uint64

	mu    sync.Mutex // one change at a time; guards items
	items *items

	wake   chan struct{}
	end    context.CancelFunc
	ended  sync.WaitGroup
	failed error // of the maintenance, read after it has ended
}

// begin starts the maintenance.
func (s *Store) begin() {
	s.wake = make(chan struct{}, 1)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.ended.Go(func() {
		for s.failed == nil {
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
				s.failed = s.barrels.Maintain(ctx)
			}
		}
	})
}

// Barrels returns the barrels, for their statistics.
func (s *Store) Barrels() barrels.Store { return s.barrels }

// Searcher implements layouts.Store.
func (s *Store) Searcher() (layouts.Searcher, error) {
	return &searcher{store: s, request: search.Request{
		Profile: search.DefaultProfile().Capped(search.Identical), Device: search.Desktop,
		Slots: layouts.Slots, ExactCounts: s.exact, RequestID: "adbench",
	}}, nil
}

// Size implements layouts.Store. The matching part is the size after building: it does
// not follow changes.
func (s *Store) Size() (layouts.Size, error) {
	now, err := resident()
	return layouts.Size{
		Disk: s.barrels.Stats().DiskBytes, Matching: s.matching, Memory: max(now, s.before) - s.before,
	}, err
}

// Close implements layouts.Store. It returns the error of the maintenance, if there
// was one.
func (s *Store) Close() error {
	s.end()
	s.ended.Wait()
	return errors.Join(s.failed, s.barrels.Close())
}

// Change implements layouts.Changer: the groups of the changed keywords are
// rebuilt and applied as one bucket.
func (s *Store) Change(ctx context.Context, to []layouts.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := make([]int, 0, len(to))
	for _, c := range to {
		s.items.change(c)
		groups = append(groups, s.items.groupOf(c.Keyword))
	}
	slices.Sort(groups)
	from := s.barrels.Position()
	data := &pb.NodeData{From: from, To: &pb.Position{Clock: from.GetClock() + 1}}
	for _, g := range slices.Compact(groups) {
		it, err := s.items.item(g)
		if err != nil {
			return err
		}
		data.Items = append(data.Items, it)
	}
	if err := s.barrels.Apply(ctx, data); err != nil {
		return err
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// searcher searches the store.
type searcher struct {
	store   *Store
	request search.Request
	best    []uint64
}

// Close implements layouts.Searcher.
func (s *searcher) Close() error { return nil }

// Search implements layouts.Searcher.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	s.request.Query = q.Expanded
	if q.Expanded == nil || s.store.expands {
		if s.request.Query, err = search.Expand(q.Text, search.Identical, nil); err != nil {
			return f, err
		}
	}
	a, err := s.store.barrels.Search(ctx, &s.request)
	if err != nil {
		return f, err
	}
	f.Matches = a.Matched
	s.best = s.best[:0]
	for i := range a.Hits {
		s.best = append(s.best, a.Hits[i].Keyword)
	}
	f.Best = s.best
	return f, nil
}

var _ layouts.Changer = (*Store)(nil)
