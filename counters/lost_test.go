package counters_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/counters"
	"adshard/counters/store"
	"adshard/fault"
)

var errLost = fault.Newf(fault.Unavailable, "test", "the answer was lost")

// losing is a store that loses answers of Apply. decide says what happens to each batch.
type losing struct {
	store.Store
	decide func(changes []store.Change) loss
	late   sync.WaitGroup // batches that are made later
	held   chan struct{}  // late batches are made when it is closed; if it is nil, after some milliseconds
}

type loss int

const (
	none   loss = iota
	made_       // made, but not answered
	unmade      // not made, ever
	late        // made some time after the error
)

func (l *losing) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	switch l.decide(changes) {
	case made_:
		_, _ = l.Store.Apply(ctx, changes...)
		return 0, errLost
	case unmade:
		return 0, errLost
	case late:
		l.late.Go(func() {
			if l.held == nil {
				time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
			} else {
				<-l.held
			}
			_, _ = l.Store.Apply(context.WithoutCancel(ctx), changes...)
		})
		return 0, errLost
	}
	return l.Store.Apply(ctx, changes...)
}

// TestLostAnswers makes many updates at once, some of whose answers are lost in each way,
// while the counter is compacted and resized. It tests that each update is made once.
func TestLostAnswers(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for name, m := range modes {
			t.Run(name, func(t *testing.T) { lostAnswers(t, s, m, name) })
		}
	})
}

func lostAnswers(t *testing.T, s store.Store, m counters.Mode, counter string) {
	l := &losing{Store: s, decide: func([]store.Change) loss {
		if rand.IntN(4) > 0 {
			return none
		}
		return loss(1 + rand.IntN(3))
	}}
	f := sums(t, l, m, quick)
	var known, unknown atomic.Int64
	stop := make(chan struct{})
	var others, all sync.WaitGroup
	others.Go(func() { disturb(t, s, m, counter, stop) })
	for range 4 {
		all.Go(func() {
			for range 40 {
				var told *counters.Unknown
				switch err := f.Update(t.Context(), counter, plus(1)); {
				case err == nil:
					known.Add(1)
				case errors.As(err, &told):
					unknown.Add(1)
				default: // it has not been made
				}
			}
		})
	}
	all.Wait()
	close(stop)
	others.Wait()
	l.late.Wait()
	got, err := sums(t, s, m, quick).Value(t.Context(), counter)
	if err != nil || got < known.Load() || got > known.Load()+unknown.Load() {
		t.Errorf("%d updates were made and %d perhaps, but the value is %d (%v)", known.Load(), unknown.Load(), got, err)
	}
	t.Logf("%d of 160 updates made, %d perhaps, value %d", known.Load(), unknown.Load(), got)
	if known.Load() < 80 {
		t.Errorf("only %d of 160 updates were settled", known.Load())
	}
}

// TestLateWrite tests that a write is not made if it arrives long after another write has
// made its update and the update was folded.
func TestLateWrite(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for name, m := range modes {
			l := &losing{Store: s, held: make(chan struct{})}
			first := true
			l.decide = func(changes []store.Change) loss {
				if len(changes) < 2 || !first {
					return none
				}
				first = false
				return late
			}
			must(t, sums(t, l, m, quick).Update(t.Context(), name, plus(1)))
			f := sums(t, s, m, quick)
			_, err := f.Compact(t.Context(), name)
			must(t, err)
			worth(t, s, name, 1)
			close(l.held)
			l.late.Wait()
			worth(t, s, name, 1)
		}
	})
}

// TestSetAhead tests that an update that reads before a Set and writes after it counts.
func TestSetAhead(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for name, m := range modes {
			other, ahead := sums(t, s, m, quick), &before{Store: s}
			f := sums(t, ahead, m, quick)
			for range 5 {
				must(t, f.Update(t.Context(), name, plus(100)))
			}
			ahead.then = func() {
				ahead.then = nil
				must(t, other.Set(t.Context(), name, 5))
			}
			must(t, f.Update(t.Context(), name, plus(1)))
			worth(t, s, name, 6)
		}
	})
}

// after is a store that makes a batch, loses the answer, and calls then before anything
// else.
type after struct {
	store.Store
	then func()
	lost bool
}

func (a *after) Apply(ctx context.Context, changes ...store.Change) (uint64, error) {
	version, err := a.Store.Apply(ctx, changes...)
	if err == nil && len(changes) > 1 && !a.lost {
		a.lost = true
		a.then()
		return 0, errLost
	}
	return version, err
}

// TestSettled tests that an update whose answer was lost is found wherever it is by then,
// and that the caller gets an error if it can no longer be found.
func TestSettled(t *testing.T) {
	ctx := t.Context()
	type others func(f *counters.Family[int64], counter string) error
	many := func(n int) others {
		return func(f *counters.Family[int64], counter string) (err error) {
			for range n {
				err = errors.Join(err, f.Update(ctx, counter, plus(100)))
			}
			return err
		}
	}
	compact := func(f *counters.Family[int64], counter string) error {
		_, err := f.Compact(ctx, counter)
		return err
	}
	nobody := func(*counters.Family[int64], string) error { return nil }
	cases := map[string]struct {
		mode counters.Mode
		then others
		want int64
		told bool
	}{
		"still there":   {counters.Static(1), nobody, 1, false},
		"others came":   {counters.Static(1), many(15), 1501, false},
		"too many came": {counters.Static(1), many(16), 1601, true},
		"a row":         {counters.Dynamic(), nobody, 1, false},
		"a row, folded": {counters.Dynamic(), compact, 1, false},
		"a row, folded with others": {counters.Dynamic(), func(f *counters.Family[int64], counter string) error {
			return errors.Join(many(30)(f, counter), compact(f, counter))
		}, 3001, false},
		"folded, and too many others": {counters.Dynamic(), func(f *counters.Family[int64], counter string) error {
			return errors.Join(compact(f, counter), f.Fill(ctx, counter), compact(f, counter))
		}, 1, true},
		"set since": {counters.Static(1), func(f *counters.Family[int64], counter string) error { return f.Set(ctx, counter, 7) }, 7, false},
		"the shard was folded": {counters.Static(8), func(f *counters.Family[int64], counter string) error {
			return errors.Join(f.Resize(ctx, counter, 1), compact(f, counter))
		}, 1, false},
	}
	onEach(t, func(t *testing.T, s store.Store) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				then := func() { must(t, c.then(sums(t, s, c.mode, quick), name)) }
				err := sums(t, &after{Store: s, then: then}, c.mode, quick).Update(ctx, name, plus(1))
				var unknown *counters.Unknown
				if errors.As(err, &unknown) != c.told || !c.told && err != nil {
					t.Errorf("%v", err)
				}
				worth(t, s, name, c.want)
			})
		}
	})
}

// TestAway tests that an update is *Unknown, with the cause, if the store does not answer.
func TestAway(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		must(t, sums(t, s, counters.Static(1), quick).Update(t.Context(), "c", plus(1)))
		l := &losing{Store: s, decide: func([]store.Change) loss { return unmade }}
		var unknown *counters.Unknown
		for _, m := range modes {
			f := sums(t, l, m, quick)
			err := f.Update(t.Context(), "c", plus(1))
			if !errors.As(err, &unknown) || !errors.Is(err, errLost) || !fault.Is(unknown.Err, fault.Unavailable) {
				t.Errorf("update: %v", err)
			}
			if err := f.Set(t.Context(), "c", 5); !errors.As(err, &unknown) {
				t.Errorf("set: %v", err)
			}
		}
		worth(t, s, "c", 1)
	})
}
