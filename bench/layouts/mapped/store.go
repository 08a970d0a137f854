package mapped

import (
	"context"
	"errors"
	"path/filepath"

	"adshard/bench/layouts"
)

// Layout returns the layout "B".
func Layout() layouts.Layout { return layout{} }

type layout struct{}

// Name implements layouts.Layout.
func (layout) Name() string { return "B" }

// Provides implements layouts.Layout.
func (layout) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout.
func (layout) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	b := builder{set: set, dir: o.Dir, progress: o.Progress}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	return openStore(o.Dir)
}

// store holds the open barrels.
type store struct{ words, matching, keywords *barrel }

func openStore(dir string) (*store, error) {
	var open [len(names)]*barrel
	for i, name := range names {
		var err error
		if open[i], err = openBarrel(filepath.Join(dir, name)); err != nil {
			for _, b := range open[:i] {
				err = errors.Join(err, b.close())
			}
			return nil, err
		}
	}
	return &store{open[0], open[1], open[2]}, nil
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) { return &searcher{store: s}, nil }

// Size implements layouts.Store. Memory is the size of the mapped files.
func (s *store) Size() (layouts.Size, error) {
	matching := uint64(len(s.words.all) + len(s.matching.all))
	all := matching + uint64(len(s.keywords.all))
	return layouts.Size{Disk: all, Memory: all, Matching: matching}, nil
}

// Close implements layouts.Store.
func (s *store) Close() error {
	return errors.Join(s.words.close(), s.matching.close(), s.keywords.close())
}
