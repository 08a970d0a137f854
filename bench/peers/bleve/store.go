package bleve

import (
	"context"
	"errors"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	index "github.com/blevesearch/bleve_index_api"

	"adshard/bench/layouts"
	"adshard/bench/peers/server"
	"adshard/fault"
)

// matchFunc finds the keywords whose rarest word is `word` and whose other words
// are among `words`, and adds them to f.
type matchFunc func(ctx context.Context, word string, words map[string]bool, f *layouts.Found) error

// store is an open index.
type store struct {
	index     bleve.Index
	dir       string
	openMatch func(r index.IndexReader) (matchFunc, error)
}

func open(dir string, f func(r index.IndexReader) (matchFunc, error)) (layouts.Store, error) {
	i, err := bleve.OpenUsing(indexDir(dir), map[string]any{"read_only": true})
	if err != nil {
		return nil, fault.New(fault.Internal, "bleve: open", err)
	}
	return &store{index: i, dir: indexDir(dir), openMatch: f}, nil
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) {
	low, err := s.index.Advanced()
	if err != nil {
		return nil, fault.New(fault.Internal, "bleve: read", err)
	}
	r, err := low.Reader()
	if err != nil {
		return nil, fault.New(fault.Internal, "bleve: read", err)
	}
	find, err := s.openMatch(r)
	if err != nil {
		return nil, errors.Join(fault.New(fault.Internal, "bleve: read", err), r.Close())
	}
	return &searcher{reader: r, find: find, words: make(map[string]bool)}, nil
}

// Size implements layouts.Store. The index is mapped to memory, and is there
// completely once it has been read.
func (s *store) Size() (layouts.Size, error) {
	disk, err := server.DiskOf(s.dir)
	return layouts.Size{Disk: disk, Memory: disk}, err
}

// Close implements layouts.Store.
func (s *store) Close() error { return s.index.Close() }

// searcher searches with its own reader.
type searcher struct {
	reader index.IndexReader
	find   matchFunc
	words  map[string]bool // of the query
}

// Search implements layouts.Searcher.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	clear(s.words)
	for _, w := range q.Words {
		s.words[w] = true
	}
	for _, w := range q.Words {
		if err := ctx.Err(); err != nil {
			return layouts.Found{}, err
		}
		if err := s.find(ctx, w, s.words, &f); err != nil {
			return layouts.Found{}, err
		}
	}
	return f, nil
}

// Close implements layouts.Searcher.
func (s *searcher) Close() error { return s.reader.Close() }

// count adds a matching document.
func count(r index.IndexReader, doc *index.TermFieldDoc, f *layouts.Found) error {
	name, err := r.ExternalID(doc.ID)
	if err != nil {
		return err
	}
	id, err := strconv.ParseUint(name, 10, 64)
	f.Matches++
	f.Sum += id
	return err
}

// documents calls visit for each document that has a term in a field, until the
// context is done.
func documents(ctx context.Context, r index.IndexReader, field, term string, visit func(*index.TermFieldDoc) error) error {
	list, err := r.TermFieldReader(ctx, []byte(term), field, false, false, false)
	if err != nil {
		return err
	}
	var doc index.TermFieldDoc
	for n := 0; ; n++ {
		next, err := list.Next(&doc)
		if err == nil && next != nil {
			err = visit(next)
		}
		if err == nil && n%1024 == 1023 {
			err = ctx.Err()
		}
		if err != nil || next == nil {
			return errors.Join(err, list.Close())
		}
	}
}
