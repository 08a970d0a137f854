package rdb

import (
	"context"
	"slices"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/search"
	"adshard/search/words"
)

// searcher is the search before the last optimisation: it gets many pairs at a time from
// RocksDB, and each serialization's own code reads their values.
type searcher struct {
	*design
	w *walker
	decoder
	hashes []uint64
}

// Search implements layouts.Searcher.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	if s.hashes, err = hashesOf(s.hashes[:0], q); err != nil {
		return f, err
	}
	for _, first := range s.hashes {
		if err := s.walk(ctx, first, &f); err != nil {
			return layouts.Found{}, err
		}
	}
	return f, nil
}

// walk looks at the keywords that begin with a word.
func (s *searcher) walk(ctx context.Context, first uint64, f *layouts.Found) error {
	if err := s.w.seek(first); err != nil {
		return err
	}
	for done := false; !done; {
		var n int
		var err error
		if n, done, err = s.w.next(); err != nil {
			return err
		}
		if err := s.decide(n, f); err != nil {
			return err
		}
		if err := over(ctx, "rdb: search"); err != nil {
			return err
		}
	}
	return nil
}

// decide decides on n pairs. It copies what it needs of them before it asks for records.
func (s *searcher) decide(n int, f *layouts.Found) error {
	s.ids = s.ids[:0]
	for i := range n {
		id, value := s.w.pair(i)
		rest, err := s.words(s.codec, value)
		if err != nil {
			return err
		}
		if !all(s.hashes, rest) {
			continue
		}
		if s.codec == whole {
			f.Matches, f.Sum = f.Matches+1, f.Sum+s.keyword.Id
			continue
		}
		s.ids = append(s.ids, id)
	}
	for _, id := range s.ids {
		if err := s.w.record(id); err != nil {
			return err
		}
		_, value := s.w.pair(0)
		if err := s.record(value); err != nil {
			return err
		}
		f.Matches, f.Sum = f.Matches+1, f.Sum+s.keyword.Id
	}
	return nil
}

// Close implements layouts.Searcher.
func (s *searcher) Close() error {
	s.w.close()
	return nil
}

// all reports whether all words are among the query's.
func all(query, words []uint64) bool {
	for _, w := range words {
		if !slices.Contains(query, w) {
			return false
		}
	}
	return true
}

// hashesOf appends the hashes of a query's words.
func hashesOf(dst []uint64, q *layouts.Query) ([]uint64, error) {
	if len(q.Words) > search.MaxQueryWords {
		return dst, fault.Newf(fault.Invalid, "rdb: search", "the query has %d words, %d are allowed", len(q.Words), search.MaxQueryWords)
	}
	for _, w := range q.Words {
		dst = append(dst, words.Hash(w))
	}
	return dst, nil
}

// over returns an error if the context is done.
func over(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), op, err)
	}
	return nil
}
