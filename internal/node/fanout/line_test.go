package fanout

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/search"
)

// timed is a slave whose searches take some time, and who counts those under way.
type timed struct {
	part
	takes time.Duration
	under *atomic.Int64
	most  *atomic.Int64
}

func (s *timed) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.most.Store(max(s.most.Load(), s.under.Add(1)))
	defer s.under.Add(-1)
	time.Sleep(s.takes)
	return &search.Answer{Shard: r.Shard}, nil
}

// TestLine: brief searches of a query are made one after the other, in the order in which they
// come; once they have taken longer than brief, no other one waits for them.
func TestLine(t *testing.T) {
	const us = time.Microsecond
	for name, c := range map[string]struct {
		takes []time.Duration
		ended []time.Duration // when each ends
		order []int
		most  int64 // under way at a time
	}{
		"one":           {[]time.Duration{20 * us}, []time.Duration{20 * us}, []int{0}, 1},
		"brief":         {[]time.Duration{20 * us, 10 * us, 30 * us}, []time.Duration{20 * us, 30 * us, 60 * us}, []int{0, 1, 2}, 1},
		"the first":     {[]time.Duration{time.Second, 10 * us, 10 * us}, []time.Duration{time.Second, brief + 10*us, brief + 10*us}, nil, 3},
		"in the middle": {[]time.Duration{10 * us, time.Second, time.Second}, []time.Duration{10 * us, time.Second + 10*us, time.Second + brief}, []int{0, 1, 2}, 2},
		"together":      {[]time.Duration{400 * us, 400 * us, 400 * us, 400 * us}, []time.Duration{400 * us, 800 * us, 1200 * us, 1400 * us}, []int{0, 1, 2, 3}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var under, most atomic.Int64
				var all sync.WaitGroup
				ended, order := make([]time.Duration, len(c.takes)), []int(nil)
				var mu sync.Mutex
				l, began := newLine(new(search.Request), len(c.takes)), time.Now()
				for i, takes := range c.takes {
					all.Add(1)
					l.ask(t.Context(), &timed{takes: takes, under: &under, most: &most}, func(*search.Answer, error) {
						mu.Lock()
						defer mu.Unlock()
						ended[i], order = time.Since(began), append(order, i)
						all.Done()
					})
				}
				all.Wait()
				if !slices.Equal(ended, c.ended) || c.order != nil && !slices.Equal(order, c.order) || most.Load() != c.most {
					t.Errorf("ended after %v, in the order %v, at most %d at a time; want %v, %v, %d", ended, order, most.Load(), c.ended, c.order, c.most)
				}
			})
		})
	}
}

// TestLineGoesOn: a query that asks again later, for a hedge, say, is answered at once, whether
// its line has come to its end or hangs.
func TestLineGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under, most atomic.Int64
		l, began := newLine(new(search.Request), 1), time.Now()
		ask := func(takes time.Duration) (ended chan time.Duration) {
			ended = make(chan time.Duration, 1)
			l.ask(t.Context(), &timed{takes: takes, under: &under, most: &most}, func(*search.Answer, error) { ended <- time.Since(began) })
			return ended
		}
		if d := <-ask(brief / 2); d != brief/2 {
			t.Errorf("the first after %v", d)
		}
		time.Sleep(brief)
		if d := <-ask(brief / 4); d != brief/2+brief+brief/4 {
			t.Errorf("after the end of the line: %v", d)
		}
		hangs := ask(time.Second)
		time.Sleep(2 * brief)
		at := time.Since(began)
		if d := <-ask(brief / 4); d != at+brief/4 {
			t.Errorf("beside one that hangs: %v, asked at %v", d, at)
		}
		<-hangs
	})
}
