package linked

import (
	"context"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
	"adshard/bench/measure"
)

// source returns the values of keys, in the order of the keys, with nil for a key
// without a value. The values are valid until the next call.
type source interface {
	matching(words []string) ([][]byte, error)
	records(ids []uint64) ([][]byte, error)
	Close() error
}

// Stateful is the layout "stateful".
type Stateful struct{}

// RInK is the layout "RInK".
type RInK struct{}

// Name implements layouts.Layout.
func (Stateful) Name() string { return "stateful" }

// Name implements layouts.Layout.
func (RInK) Name() string { return "RInK" }

// Provides implements layouts.Layout.
func (Stateful) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Provides implements layouts.Layout.
func (RInK) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout.
func (Stateful) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := measure.Heap()
	d, err := newData(ctx, set, o)
	if err != nil {
		return nil, err
	}
	return &bytesStore{open: func() (source, error) { return &local{data: d}, nil }, memory: measure.Grown(before)}, nil
}

// Build implements layouts.Layout.
func (RInK) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	before := measure.Heap()
	d, err := newData(ctx, set, o)
	if err != nil {
		return nil, err
	}
	s, err := serve(d)
	if err != nil {
		return nil, err
	}
	return &bytesStore{open: s.dial, memory: measure.Grown(before), close: s.close}, nil
}

// bytesStore is a store whose values are bytes, either in this process or remote.
type bytesStore struct {
	open   func() (source, error)
	close  func() error
	memory uint64
}

// Searcher implements layouts.Store.
func (s *bytesStore) Searcher() (layouts.Searcher, error) {
	from, err := s.open()
	if err != nil {
		return nil, err
	}
	return &bytesSearcher{from: from, query: make(map[uint64]struct{})}, nil
}

// Size implements layouts.Store.
func (s *bytesStore) Size() (layouts.Size, error) { return layouts.Size{Memory: s.memory}, nil }

// Close implements layouts.Store.
func (s *bytesStore) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

type bytesSearcher struct {
	from  source
	query map[uint64]struct{}
	ids   []uint64
}

// Close implements layouts.Searcher.
func (s *bytesSearcher) Close() error { return s.from.Close() }

// Search implements layouts.Searcher.
func (s *bytesSearcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	clear(s.query)
	for _, w := range q.Words {
		s.query[hash(w)] = struct{}{}
	}
	values, err := s.from.matching(q.Words)
	if err != nil {
		return f, err
	}
	s.ids = s.ids[:0]
	for _, raw := range values {
		for v := value(raw); len(v) > 0; {
			id, matches, err := v.next(s.query)
			if err != nil {
				return f, err
			}
			if matches {
				s.ids = append(s.ids, id)
			}
		}
	}
	if len(s.ids) == 0 {
		return f, nil
	}
	records, err := s.from.records(s.ids)
	if err != nil {
		return f, err
	}
	for i, raw := range records {
		var r record.Record
		if raw == nil {
			return f, missing(s.ids[i])
		}
		if err := r.Read(raw); err != nil {
			return f, err
		}
		f.Matches++
		f.Sum += r.ID
	}
	return f, nil
}

// local is a source whose data are in this process.
type local struct {
	*data
	out [][]byte
}

func (l *local) matching(words []string) ([][]byte, error) {
	l.out = l.out[:0]
	for _, w := range words {
		l.out = append(l.out, l.data.matching[w])
	}
	return l.out, nil
}

func (l *local) records(ids []uint64) ([][]byte, error) {
	l.out = l.out[:0]
	for _, id := range ids {
		l.out = append(l.out, l.data.records[id])
	}
	return l.out, nil
}

func (l *local) Close() error { return nil }
