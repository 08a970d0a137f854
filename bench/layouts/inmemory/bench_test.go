package inmemory

import (
	"flag"
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

// keywords is the size of the benchmarks' set: a small one in ordinary runs,
// -keywords=430000 for the figures.
var keywords = flag.Int64("keywords", 10_000, "size of the benchmarks' set")

func BenchmarkSearch(b *testing.B) {
	set, queries := layouttest.BenchSet(b, "../../../../shared/data", *keywords)
	for _, l := range []layouts.Layout{Structs{}, Floor{}} {
		b.Run(l.Name(), func(b *testing.B) { layouttest.Bench(b, l, set, queries) })
	}
}
