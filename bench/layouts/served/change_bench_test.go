package served

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

// BenchmarkChange measures the time of a changed keyword, including rebuilding
// its group, by how many are changed at a time: random keywords, and all
// keywords of random groups.
func BenchmarkChange(b *testing.B) {
	ctx := context.Background()
	set, _ := layouttest.BenchSet(b, "../../../../shared/data", *keywords)
	store, err := Served{}.Build(ctx, set, layouts.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	}()
	c, ok := store.(layouts.Changer)
	if !ok {
		b.Fatal(errors.New("it cannot be changed"))
	}
	for _, size := range []int{100, 1000, 10_000} {
		for _, whole := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/groups=%t", size, whole), func(b *testing.B) {
				d := rand.New(rand.NewPCG(1, uint64(size)))
				changed := 0
				for b.Loop() {
					to := drawn(d, set, size, whole)
					changed += len(to)
					if err := c.Change(ctx, to); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(changed)/b.Elapsed().Seconds(), "keywords/s")
			})
		}
	}
}

// drawn returns about n changes: of single keywords or of whole groups.
func drawn(d *rand.Rand, set *layouts.Set, n int, whole bool) (to []layouts.Change) {
	for len(to) < n {
		g := d.IntN(len(set.Groups))
		first, end := int(set.Groups[g].First), set.GroupEnd(g)
		if !whole {
			first += d.IntN(end - first)
			end = first + 1
		}
		for i := first; i < end; i++ {
			to = append(to, layouts.Change{Keyword: i, Like: d.IntN(set.Len())})
		}
	}
	return to
}
