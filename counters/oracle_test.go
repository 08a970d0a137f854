package counters_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"adshard/counters"
	"adshard/counters/store"
)

// oracle is what a family must behave like: values by name under one lock.
type oracle struct {
	mu     sync.Mutex
	values map[string]int64
}

func (o *oracle) update(counter string, u func(int64) int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.values[counter] = u(o.values[counter])
}

func (o *oracle) value(counter string) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.values[counter]
}

// TestAsOneValue makes random calls of families in all modes that share counters, and
// compares each value with the oracle's. Families are replaced, as processes are.
func TestAsOneValue(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		round := 0
		rapid.Check(t, func(r *rapid.T) {
			if round++; round > 10 && !strings.HasSuffix(t.Name(), "memory") {
				return // stores on disk are slow
			}
			randomCalls(t, r, s, fmt.Sprint("round ", round))
		})
	})
}

func randomCalls(t *testing.T, r *rapid.T, s store.Store, round string) {
	ctx := context.Background()
	o := &oracle{values: make(map[string]int64)}
	var families []*counters.Family[int64]
	for _, m := range modes {
		families = append(families, sums(t, s, m, counters.Options{}))
	}
	for range rapid.IntRange(1, 25).Draw(r, "calls") {
		at := rapid.IntRange(0, len(families)-1).Draw(r, "family")
		f := families[at]
		counter := round + rapid.SampledFrom([]string{"/a", " ü", "%"}).Draw(r, "counter")
		number := int64(rapid.IntRange(-5, 5).Draw(r, "number"))
		var err error
		switch rapid.SampledFrom([]string{"update", "update", "update", "set", "resize", "compact", "tend", "renew"}).Draw(r, "call") {
		case "update":
			err = f.Update(ctx, counter, plus(number))
			o.update(counter, plus(number))
		case "set":
			err = f.Set(ctx, counter, number)
			o.update(counter, func(int64) int64 { return number })
		case "resize":
			err = f.Resize(ctx, counter, int(number)+6)
		case "compact":
			_, err = f.Compact(ctx, counter)
		case "tend":
			err = f.Maintain(ctx, counter)
		case "renew":
			families[at] = sums(t, s, counters.Dynamic(), counters.Options{})
		}
		if err != nil {
			r.Fatal(err)
		}
		reader := families[rapid.IntRange(0, len(families)-1).Draw(r, "reader")]
		if got, err := reader.Value(ctx, counter); err != nil || got != o.value(counter) {
			r.Fatalf("%s is %d, want %d (%v)", counter, got, o.value(counter), err)
		}
	}
}

// TestCompactLeavesNothing tests that after Compact a counter has only its head and the
// shards in use.
func TestCompactLeavesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		ctx := t.Context()
		f, d := sums(t, s, counters.Static(40), counters.Options{}), sums(t, s, counters.Dynamic(), counters.Options{})
		for range 100 {
			must(t, f.Update(ctx, "c", plus(1)))
			must(t, d.Update(ctx, "c", plus(1)))
		}
		must(t, f.Resize(ctx, "c", 4))
		for range 10 {
			must(t, f.Update(ctx, "c", plus(1)))
		}
		if _, parts, err := f.Shards(ctx, "c"); err != nil || parts < 100 {
			t.Fatalf("%d parts, %v", parts, err)
		}
		folded, err := d.Compact(ctx, "c")
		must(t, err)
		if shards, parts, err := f.Shards(ctx, "c"); err != nil || shards != 4 || parts > 4 || folded < 100 {
			t.Errorf("%d shards, %d parts, %d folded, %v", shards, parts, folded, err)
		}
		worth(t, s, "c", 210)
		if again, err := d.Compact(ctx, "c"); err != nil || again != 0 {
			t.Errorf("folded %d again, %v", again, err)
		}
	})
}

// TestCompactPieceByPiece tests that a counter with many parts is folded in several
// batches, since a store limits the changes of a batch.
func TestCompactPieceByPiece(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		d := sums(t, s, counters.Dynamic(), counters.Options{})
		const updates = 2500
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for range updates / 10 {
					must(t, d.Update(t.Context(), "c", plus(1)))
				}
			})
		}
		all.Wait()
		folded, err := d.Compact(t.Context(), "c")
		if err != nil || folded != updates {
			t.Errorf("folded %d, %v", folded, err)
		}
		worth(t, s, "c", updates)
	})
}
