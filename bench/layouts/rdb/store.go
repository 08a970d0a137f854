package rdb

import (
	"context"
	"path/filepath"

	"adshard/bench/layouts"
)

// All returns the layouts, in the order in which the thesis made them, and then
// those that it did not make.
func All() []layouts.Layout {
	var out []layouts.Layout
	for _, d := range designs() {
		out = append(out, layout{d})
	}
	return out
}

// Baseline returns RDB-Pr-Fl-Opt, the thesis' best layout.
func Baseline() layouts.Layout { return layout{named(baseline)} }

// layout implements layouts.Layout with a design.
type layout struct{ *design }

// Name implements layouts.Layout.
func (l layout) Name() string { return l.name }

// Provides implements layouts.Layout.
func (l layout) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout.
func (l layout) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	t, cache := l.limited, o.CacheBytes
	if cache == 0 {
		t, cache = l.cached, everything
	}
	if t.own {
		cache = min(cache, defaultCache)
	}
	s := &store{
		design: l.design, mapped: t.matching.has("allow_mmap_reads=true"),
		matching: database{filepath.Join(o.Dir, "matching"), t.matching.String()},
	}
	n := 1
	if l.codec != whole {
		n, s.records = 2, database{filepath.Join(o.Dir, "records"), t.records.String()}
	}
	b := newBuilder(set, n, o.Progress)
	if err := b.matchingData(ctx, s.matching, l.codec); err != nil {
		return nil, err
	}
	if l.codec != whole {
		if err := b.records(ctx, s.records); err != nil {
			return nil, err
		}
	}
	var err error
	if s.open, err = open(s.matching, s.records, cache, t.own); err != nil {
		return nil, err
	}
	return s, nil
}

// everything is a cache size that exceeds every layout.
const everything = 1 << 40

// store is an open layout.
type store struct {
	*design
	mapped            bool // files are read directly, not through the cache
	matching, records database
	open              databases
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) {
	w := s.open.walker(s.code != direct)
	if s.code == lean {
		return &leanSearcher{w: w, codec: s.codec}, nil
	}
	return &searcher{w: w, design: s.design, decoder: decoder{reuse: s.code == prepared}}, nil
}

// Size implements layouts.Store. Memory is RocksDB's cache, its memory for
// tables, and the mapped tables.
func (s *store) Size() (layouts.Size, error) {
	matching, err := sizeOf(s.matching.dir)
	if err != nil {
		return layouts.Size{}, err
	}
	size := layouts.Size{Disk: matching, Memory: s.open.memory(), Raw: s.open.raw()}
	if s.codec != whole {
		records, err := sizeOf(s.records.dir)
		if err != nil {
			return layouts.Size{}, err
		}
		size.Disk, size.Matching = matching+records, matching
	}
	if s.mapped {
		size.Memory += size.Disk
	}
	return size, nil
}

// Close implements layouts.Store.
func (s *store) Close() error {
	s.open.close()
	return nil
}
