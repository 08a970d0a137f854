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

// TestConformanceLimited: a small cache changes the baseline's files but not its
// answers.
func TestConformanceLimited(t *testing.T) { layouttest.Run(t, limited{rdb.Baseline()}) }

type limited struct{ layouts.Layout }

func (l limited) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	o.CacheBytes = 64 << 10
	return l.Layout.Build(ctx, set, o)
}

// TestRaw: the uncompressed size of the data is the same for compressed files and for
// others, and at least that of keys and texts.
func TestRaw(t *testing.T) {
	set, _ := layouttest.Small(t, 5000)
	for _, l := range []layouts.Layout{rdb.All()[0], rdb.Baseline()} {
		var raw []uint64
		for _, cache := range []uint64{0, 1 << 10} {
			st, err := l.Build(t.Context(), set, layouts.Options{Dir: t.TempDir(), CacheBytes: cache})
			if err != nil {
				t.Fatal(err)
			}
			size, err := st.Size()
			if err != nil {
				t.Error(err)
			}
			raw = append(raw, size.Raw)
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}
		if least := uint64(set.Len()) * 40; raw[0] < least || max(raw[0], raw[1])-min(raw[0], raw[1]) > raw[0]/5 {
			t.Errorf("%s: %d and %d bytes before compression, %d keywords", l.Name(), raw[0], raw[1], set.Len())
		}
	}
}
