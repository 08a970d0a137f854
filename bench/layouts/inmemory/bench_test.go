package inmemory

import (
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

func BenchmarkSearch(b *testing.B) {
	set, queries := layouttest.BenchSet(b, "../../../../shared/data")
	for _, l := range []layouts.Layout{Structs{}, Floor{}} {
		b.Run(l.Name(), func(b *testing.B) { layouttest.Bench(b, l, set, queries) })
	}
}
