package served

import (
	"testing"

	"go.uber.org/goleak"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLayouts(t *testing.T) {
	for _, l := range []layouts.Layout{Served{}, ServedTop{}, ServedExpanded{}, ServedPrepared{}} {
		t.Run(l.Name(), func(t *testing.T) { layouttest.Run(t, l) })
	}
}

func BenchmarkSearch(b *testing.B) {
	set, queries := layouttest.BenchSet(b, "../../../../shared/data", *keywords)
	for _, l := range []layouts.Layout{Served{}, ServedTop{}} {
		b.Run(l.Name(), func(b *testing.B) { layouttest.Bench(b, l, set, queries) })
	}
}
