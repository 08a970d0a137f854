package counters_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/counters"
	"adshard/counters/store"
	"adshard/fault"
)

// slow is a store whose batches take a while, so that updates conflict.
type slow struct{ store.Store }

func (s slow) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if len(changes) > 1 {
		time.Sleep(3 * time.Millisecond)
	}
	return s.Store.Apply(ctx, changes...)
}

// TestKeepAdapts tests that an adaptive counter gets more shards under conflicts, also those of
// updates that give up, while several processes maintain it, and loses them again when idle.
// Nothing is lost.
func TestKeepAdapts(t *testing.T) {
	rule := counters.DefaultRule()
	rule.ShrinkAfter = 3
	onEach(t, func(t *testing.T, s store.Store) {
		ctx, stop := context.WithCancel(t.Context())
		var made atomic.Int64
		var users, keepers sync.WaitGroup
		enough := make(chan struct{})
		for range 2 {
			f := sums(t, slow{s}, counters.Adaptive(rule), counters.Options{Attempts: 1})
			keepers.Go(func() {
				if err := f.Run(ctx, 10*time.Millisecond, func(err error) { t.Error(err) }); !errors.Is(err, context.Canceled) {
					t.Errorf("keep: %v", err)
				}
			})
			for range 8 {
				users.Go(func() {
					for !closed(enough) {
						if err := f.Update(ctx, "c", plus(1)); err == nil {
							made.Add(1)
						} else if !fault.Is(err, fault.Conflict) {
							t.Error(err)
						}
					}
				})
			}
		}
		shards := func() int {
			n, _, err := sums(t, s, counters.Static(1), quick).Shards(ctx, "c")
			must(t, err)
			return n
		}
		eventually(t, "16 shards or more", func() bool { return shards() >= 16 })
		close(enough)
		users.Wait()
		eventually(t, "as few shards as may be", func() bool { return shards() == rule.Least })
		stop()
		keepers.Wait()
		worth(t, s, "c", made.Load())
	})
}

// TestKeepCompacts tests that rows are folded while updates go on. A failing store is reported, and
// its counters are maintained when it is back.
func TestKeepCompacts(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var away atomic.Bool
		var noted atomic.Int64
		l := &losing{Store: s, decide: func(changes []store.Change) loss {
			if away.Load() && changes[0].Action == store.Put {
				return unmade
			}
			return none
		}}
		f := sums(t, l, counters.Dynamic(), quick)
		for range 20 {
			must(t, f.Update(ctx, "c", plus(1)))
		}
		away.Store(true)
		var keeper sync.WaitGroup
		keeper.Go(func() { _ = f.Run(ctx, time.Millisecond, func(error) { noted.Add(1) }) })
		eventually(t, "reported errors", func() bool { return noted.Load() > 2 })
		away.Store(false)
		eventually(t, "no rows", func() bool {
			_, parts, err := f.Shards(ctx, "c")
			must(t, err)
			return parts == 0
		})
		stop()
		keeper.Wait()
		worth(t, s, "c", 20)
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("there never were %s", what)
		}
	}
}

// TestGivesUp tests that, with Attempts, an update that conflicts with another one each time fails
// with fault.Conflict after that number of puts, and has not been made. Conflicts with Resize and
// Compact are not counted.
func TestGivesUp(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		other := sums(t, s, counters.Static(1), quick)
		ahead := &before{Store: s}
		f := sums(t, ahead, counters.Static(1), counters.Options{Attempts: 3, Backoff: time.Microsecond})
		must(t, f.Update(t.Context(), "c", plus(1)))
		tries := 0
		ahead.then = func() { tries++; must(t, other.Update(t.Context(), "c", plus(100))) }
		if err := f.Update(t.Context(), "c", plus(1)); !fault.Is(err, fault.Conflict) || tries != 3 {
			t.Errorf("%v after %d puts", err, tries)
		}
		worth(t, s, "c", 301)
		tries = 0
		ahead.then = func() {
			if tries++; tries < 9 {
				must(t, other.Resize(t.Context(), "c", 1+tries%2))
			}
		}
		must(t, f.Update(t.Context(), "c", plus(1)))
		worth(t, s, "c", 302)
	})
}

// before is a store that calls then before each batch of an update.
type before struct {
	store.Store
	then func()
}

func (b *before) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if b.then != nil && len(changes) > 1 {
		b.then()
	}
	return b.Store.Apply(ctx, changes...)
}
