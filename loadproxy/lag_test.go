package loadproxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLag tests that the lag grows until something shows that the store is at the head. A pull
// that waited for its whole time shows this, but one that was answered at once does not.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 2 * time.Second
		l := lagging{start: time.Now()}
		want := func(d time.Duration) {
			t.Helper()
			if got := l.lag(wait); got != d {
				t.Errorf("%v, want %v", got, d)
			}
		}
		want(0)
		time.Sleep(time.Second)
		want(time.Second)
		l.pulling(0)
		time.Sleep(wait)
		want(time.Second) // the pull waits, so there is nothing newer
		time.Sleep(5 * time.Second)
		want(6 * time.Second) // the link is cut
		l.pulled(false, 0)
		want(8 * time.Second) // the reply did not have the newest change
		l.pulling(0)
		l.pulled(true, 0)
		want(0)
		time.Sleep(3 * time.Second)
		want(3 * time.Second)
	})
}

// TestLagUnderChangesWithoutEnd tests that the lag of a store that is never at the head is the
// time that changes take, and not the time since it was last at the head.
func TestLagUnderChangesWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait, step, ahead = 2 * time.Second, 50 * time.Millisecond, 5
		l := lagging{start: time.Now()}
		for clock := uint64(1); clock < 1000; clock++ {
			l.pulling(clock)
			time.Sleep(step / 2)
			l.pulled(false, clock+ahead)
			time.Sleep(step / 2)
			if lag := l.lag(wait); clock > 2*ahead && (lag < ahead*step || lag > (ahead+1)*step) {
				t.Fatalf("after %d changes the lag is %v", clock, lag)
			}
		}
	})
}

// TestLagOfWhatIsDeferred tests that the lag grows while a pull waits and the store lacks a
// known change, until the store has the change or the history is another one.
func TestLagOfWhatIsDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 2 * time.Second
		l := lagging{start: time.Now()}
		want := func(d time.Duration) {
			t.Helper()
			if got := l.lag(wait); got != d {
				t.Errorf("%v, want %v", got, d)
			}
		}
		time.Sleep(time.Second)
		if known := l.pulling(7); known != 7 {
			t.Errorf("%d is known", known)
		}
		l.pulled(true, 7)
		l.pulling(7)
		time.Sleep(time.Second)
		want(0)
		l.pulled(false, 9) // 8 and 9 are new, and are deferred
		if known := l.pulling(7); known != 9 {
			t.Errorf("%d is known", known)
		}
		time.Sleep(time.Second)
		want(2 * time.Second)
		l.pulled(false, 10)
		l.pulling(10)
		want(time.Second) // it has everything that existed when the pull before began
		l.pulled(false, 1000)
		l.begin()
		l.pulling(9)
		l.pulled(true, 9)
		want(0)
	})
}

// TestMarksAreBounded tests that a store that is far behind remembers only a few of the changes
// that were named.
func TestMarksAreBounded(t *testing.T) {
	l := lagging{start: time.Now()}
	for i := range uint64(10_000) {
		l.pulling(1)
		l.pulled(false, 10+i)
	}
	if len(l.marks) > maxMarks {
		t.Errorf("%d marks", len(l.marks))
	}
}
