package creators

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"adshard/barrels"
	"adshard/bench/layouts/served"
	"adshard/search"
)

// slave answers from its newest barrel. It is a fanout.Answering.
type slave struct {
	dir   string // the parent of the directories of its barrels
	cache uint64

	// get is called by one goroutine at a time, the only one that writes the fields below.
	// Searches hold mu for reading.
	mu    sync.RWMutex
	store barrels.Store
	own   string // the directory of store
}

// Search implements search.Searcher.
func (s *slave) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store.Search(ctx, r)
}

// Explain implements search.Explainer.
func (s *slave) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.store.Explain(ctx, r, limit)
}

// get copies a barrel, opens the copy, switches to it and removes the previous one.
func (s *slave) get(ctx context.Context, from string, number int) error {
	to := filepath.Join(s.dir, fmt.Sprint(number))
	if err := copyTree(ctx, to, from); err != nil {
		return fmt.Errorf("copy a barrel: %w", err)
	}
	store, err := served.Open(served.RocksDB{}, to, s.cache)
	if err != nil {
		return fmt.Errorf("open a barrel: %w", err)
	}
	s.mu.Lock()
	old, before := s.store, s.own
	s.store, s.own = store, to
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	return errors.Join(old.Close(), os.RemoveAll(before))
}

func (s *slave) close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// copyTree copies a directory, each file byte by byte onto the disk.
func copyTree(ctx context.Context, to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rest), 0o755)
		}
		return copyFile(filepath.Join(to, rest), path)
	})
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	// If io.Copy saw two files, it would let some file systems share blocks, which no download
	// does.
	_, err = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{in})
	return errors.Join(err, out.Sync(), out.Close())
}
