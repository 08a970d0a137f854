package loadproxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLag: it grows while nothing says that the store is at the head; a pull that waits
// as long as it may says so, one that is answered at once does not.
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
		l.pulling()
		time.Sleep(wait)
		want(time.Second) // it waits, so that there is nothing newer
		time.Sleep(5 * time.Second)
		want(6 * time.Second) // the link is cut
		l.pulled(false)
		want(8 * time.Second) // what came was not the newest
		l.pulling()
		l.pulled(true)
		want(0)
		time.Sleep(3 * time.Second)
		want(3 * time.Second)
	})
}
