package rdb

import (
	"context"
	"path/filepath"

	"adshard/bench/layouts"
)

// All returns the layouts, in the order in which the thesis made them. Baseline
// is the last.
func All() []layouts.Layout {
	out := make([]layouts.Layout, len(designs))
	for i := range designs {
		out[i] = layout{&designs[i]}
	}
	return out
}

// Baseline returns RDB-Pr-Fl-Opt, the thesis' best.
func Baseline() layouts.Layout { return layout{&designs[len(designs)-1]} }

// layout is a design as layouts.Layout.
type layout struct{ *design }

// Name implements layouts.Layout.
func (l layout) Name() string { return l.name }

// Tells implements layouts.Layout.
func (l layout) Tells() layouts.Tells { return layouts.Tells{Matches: true, Sum: true} }

// Build implements layouts.Layout.
func (l layout) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	s := &store{design: l.design, matching: database{filepath.Join(o.Dir, "matching"), l.matching.String()}}
	n := 1
	if l.codec != whole {
		n, s.records = 2, database{filepath.Join(o.Dir, "records"), l.records.String()}
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
	cache := o.CacheBytes
	if cache == 0 {
		cache = everything
	}
	var err error
	s.open, err = open(s.matching, s.records, cache)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// everything is more than any layout has.
const everything = 1 << 40

// store is an open layout.
type store struct {
	*design
	matching, records database
	open              databases
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) {
	w := s.open.walker(s.code != direct, s.design.matching.hasPrefix())
	if s.code == lean {
		return &leanSearcher{w: w, codec: s.codec}, nil
	}
	return &searcher{w: w, design: s.design, decoder: decoder{reuse: s.code == prepared}}, nil
}

// Size implements layouts.Store.
func (s *store) Size() (layouts.Size, error) {
	matching, err := sizeOf(s.matching.dir)
	if err != nil || s.codec == whole {
		return layouts.Size{Disk: matching, Memory: s.open.memory()}, err
	}
	records, err := sizeOf(s.records.dir)
	return layouts.Size{Disk: matching + records, Memory: s.open.memory(), Matching: matching}, err
}

// Close implements layouts.Store.
func (s *store) Close() error {
	s.open.close()
	return nil
}
