package rdb_test

import (
	"context"
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/bench/layouts/rdb"
)

func TestConformance(t *testing.T) {
	for _, l := range rdb.All() {
		t.Run(l.Name(), func(t *testing.T) { layouttest.Run(t, l) })
	}
}

// TestConformanceLimited: a cache that holds little changes the baseline's files,
// not its answers.
func TestConformanceLimited(t *testing.T) { layouttest.Run(t, limited{rdb.Baseline()}) }

type limited struct{ layouts.Layout }

func (l limited) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	o.CacheBytes = 64 << 10
	return l.Layout.Build(ctx, set, o)
}
