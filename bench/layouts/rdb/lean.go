package rdb

import (
	"context"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
)

// leanSearcher is the fully optimised search: C++ reads and decides without copying, and
// returns the records of matches.
type leanSearcher struct {
	w      *walker
	codec  codec
	hashes []uint64
	record record.Record
}

// Search implements layouts.Searcher.
func (s *leanSearcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if s.hashes, err = hashesOf(s.hashes[:0], q); err != nil {
		return f, err
	}
	s.w.query(s.hashes, s.codec)
	for done := false; !done; {
		var n int
		if n, done, err = s.w.matches(); err != nil {
			return layouts.Found{}, err
		}
		for i := range n {
			_, value := s.w.pair(i)
			if err := s.record.Read(value); err != nil {
				return layouts.Found{}, err
			}
			f.Matches, f.Sum = f.Matches+1, f.Sum+s.record.ID
		}
		if err := over(ctx, "rdb: search"); err != nil {
			return layouts.Found{}, err
		}
	}
	return f, nil
}

// Close implements layouts.Searcher.
func (s *leanSearcher) Close() error {
	s.w.close()
	return nil
}
