package counters_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"adshard/counters"
	"adshard/counters/store"
)

var errCrashed = errors.New("crashed")

// crashing is a store that is out of reach from one call on: the process crashed before
// that call was made, or before it was answered.
type crashing struct {
	store.Store
	left  int  // number of calls until then
	after bool // the last call is made, but not answered
}

func (c *crashing) gone(call func()) bool {
	c.left--
	if c.left == 0 && c.after {
		call()
	}
	return c.left <= 0
}

func (c *crashing) Get(ctx context.Context, key string) (store.Item, error) {
	if c.gone(func() {}) {
		return store.Item{}, errCrashed
	}
	return c.Store.Get(ctx, key)
}

func (c *crashing) List(ctx context.Context, prefix string, limit int) ([]store.Item, error) {
	if c.gone(func() {}) {
		return nil, errCrashed
	}
	return c.Store.List(ctx, prefix, limit)
}

func (c *crashing) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	if c.gone(func() { _, _ = c.Store.Apply(ctx, changes...) }) { // its outcome is lost
		return 0, errCrashed
	}
	return c.Store.Apply(ctx, changes...)
}

// TestCrashAtEachStep crashes in each call that a process makes of the store. It tests
// that nothing is lost or doubled, and that the next process continues.
func TestCrashAtEachStep(t *testing.T) {
	operations := map[string]struct {
		do func(*counters.Family[int64]) error
		// may reports whether the value may change from before to now, given the error.
		may func(err error, before, now int64) bool
	}{
		"Compact":  {func(f *counters.Family[int64]) error { _, err := f.Compact(t.Context(), "c"); return err }, unchanged},
		"Maintain": {func(f *counters.Family[int64]) error { return f.Maintain(t.Context(), "c") }, unchanged},
		"Resize":   {func(f *counters.Family[int64]) error { return f.Resize(t.Context(), "c", 2) }, unchanged},
		"Update":   {func(f *counters.Family[int64]) error { return f.Update(t.Context(), "c", plus(1)) }, changed(func(n int64) int64 { return n + 1 })},
		"Set":      {func(f *counters.Family[int64]) error { return f.Set(t.Context(), "c", -7) }, changed(func(int64) int64 { return -7 })},
	}
	onEach(t, func(t *testing.T, s store.Store) {
		before := int64(0)
		for name, op := range operations {
			t.Run(name, func(t *testing.T) {
				for step, ended := 1, 0; ended < 2*len(modes); step++ {
					ended = 0
					for modeName, m := range modes {
						for _, after := range []bool{false, true} {
							before += prepare(t, s)
							c := &crashing{Store: s, left: step, after: after}
							err := op.do(sums(t, c, m, quick))
							if c.left > 0 {
								ended++
							}
							now := value(t, s)
							if !op.may(err, before, now) {
								t.Fatalf("%s, step %d, made %v: from %d to %d with %v", modeName, step, after, before, now, err)
							}
							before = now
						}
					}
				}
			})
		}
	})
}

// prepare gives a counter rows, shards in use and shards that are not in use, and
// returns the value that it has added.
func prepare(t *testing.T, s store.Store) int64 {
	t.Helper()
	f, d := sums(t, s, counters.Static(8), counters.Options{}), sums(t, s, counters.Dynamic(), counters.Options{})
	must(t, f.Resize(t.Context(), "c", 8))
	for range 4 {
		must(t, f.Update(t.Context(), "c", plus(1)))
		must(t, d.Update(t.Context(), "c", plus(1)))
	}
	must(t, f.Resize(t.Context(), "c", 3))
	return 8
}

// value reads a counter, compacts it, and checks that the value is the same.
func value(t *testing.T, s store.Store) int64 {
	t.Helper()
	f := sums(t, s, counters.Static(1), counters.Options{})
	before, err := f.Value(t.Context(), "c")
	must(t, err)
	_, err = f.Compact(t.Context(), "c")
	must(t, err)
	worth(t, s, "c", before)
	return before
}

func unchanged(_ error, before, now int64) bool { return before == now }

// changed allows values after a change: made if there was no error, not made if there
// was one, and either if it is *Unknown.
func changed(by func(int64) int64) func(error, int64, int64) bool {
	return func(err error, before, now int64) bool {
		var unknown *counters.Unknown
		switch {
		case err == nil:
			return now == by(before)
		case errors.As(err, &unknown):
			return now == before || now == by(before)
		}
		return now == before
	}
}

// TestSetOverManyParts tests that parts of earlier epochs no longer count, and are
// removed.
func TestSetOverManyParts(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for i := range int64(3) {
			prepare(t, s)
			f := sums(t, s, counters.Dynamic(), counters.Options{})
			must(t, f.Set(t.Context(), "c", i))
			worth(t, s, "c", i)
		}
		f := sums(t, s, counters.Static(3), counters.Options{})
		must(t, f.Update(t.Context(), "c", plus(10)))
		worth(t, s, "c", 12)
		_, err := f.Compact(t.Context(), "c")
		must(t, err)
		worth(t, s, "c", 12)
		if _, parts, err := f.Shards(t.Context(), "c"); err != nil || parts > 3 {
			t.Error(fmt.Sprint(parts, " parts are left, ", err))
		}
	})
}
