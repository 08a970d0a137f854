package loadproxy

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestMaintainsWhenQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(3)
		var runs atomic.Int32
		s.maintain = func(context.Context) error { runs.Add(1); return nil }
		run(t, s, b)
		time.Sleep(400 * time.Millisecond)
		if runs.Load() != 0 {
			t.Fatal("maintained while buckets may follow")
		}
		time.Sleep(time.Minute)
		if runs.Load() != 1 {
			t.Fatalf("%d runs, want one after the buckets", runs.Load())
		}
		b.set(func() { b.head++ })
		time.Sleep(time.Minute)
		if runs.Load() != 2 {
			t.Fatalf("%d runs, want another after another bucket", runs.Load())
		}
	})
}

func TestMaintenanceStepsAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(1)
		s.maintain = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		run(t, s, b)
		time.Sleep(time.Second) // upkeep is at work now
		b.set(func() { b.head = 2 })
		synctest.Wait()
		if got := len(s.applied()); got != 2 {
			t.Fatalf("%d buckets applied while maintaining, want 2", got)
		}
	})
}

func TestOverdueMaintenanceGetsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(1)
		var slices atomic.Int32
		s.maintain = func(ctx context.Context) error {
			if d, ok := ctx.Deadline(); ok && time.Until(d) == Default("", "").Slice {
				slices.Add(1)
			}
			<-ctx.Done()
			return ctx.Err()
		}
		run(t, s, b)
		for range 300 { // for 30 s it is never quiet
			time.Sleep(100 * time.Millisecond)
			b.set(func() { b.head++ })
		}
		synctest.Wait()
		if n := slices.Load(); n < 2 || n > 3 {
			t.Fatalf("%d overdue slices in 30 s, want 2 or 3", n)
		}
		time.Sleep(time.Second)
		if got := uint64(len(s.applied())); got != b.newest() {
			t.Fatalf("applied %d of %d", got, b.newest())
		}
	})
}

func TestFailedMaintenanceIsTriedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := newStore(), newBalancer(1)
		var runs atomic.Int32
		s.maintain = func(context.Context) error { runs.Add(1); return errors.New("no") }
		run(t, s, b)
		time.Sleep(time.Minute)
		if n := runs.Load(); n < 3 || n > 10 {
			t.Fatalf("%d runs in a minute", n)
		}
	})
}
