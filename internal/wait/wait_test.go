package wait_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adshard/internal/wait"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := wait.Sleep(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("slept %v: %v", time.Since(began), err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		began = time.Now()
		if err := wait.Sleep(ctx, time.Hour); err != why || time.Since(began) != time.Minute {
			t.Errorf("slept %v: %v", time.Since(began), err)
		}
		for _, d := range []time.Duration{-1, 0, time.Hour} {
			if err := wait.Sleep(ctx, d); err != why {
				t.Errorf("slept %v although the context had ended: %v", d, err)
			}
		}
		if err := wait.Sleep(t.Context(), 0); err != nil {
			t.Error(err)
		}
	})
}

// TestBroadcast: each change wakes all waiters, and a change between Next and the wait is not
// missed.
func TestBroadcast(t *testing.T) {
	var b wait.Broadcast
	b.Notify() // with no waiter
	next := b.Next()
	b.Notify()
	<-next
	b.Notify()
	select {
	case <-b.Next():
		t.Error("woken by an earlier change")
	default:
	}
	synctest.Test(t, func(t *testing.T) {
		var b wait.Broadcast
		var woken sync.WaitGroup
		for range 10 {
			next := b.Next()
			woken.Go(func() { <-next })
		}
		synctest.Wait()
		b.Notify()
		woken.Wait()
	})
}
