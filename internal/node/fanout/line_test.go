package fanout

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/search"
)

// timed is a slave whose searches take some time, and who counts those under way.
type timed struct {
	part
	takes       time.Duration
	under, most *atomic.Int64
}

func (s *timed) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	s.most.Store(max(s.most.Load(), s.under.Add(1)))
	defer s.under.Add(-1)
	time.Sleep(s.takes)
	return &search.Answer{Shard: r.Shard}, nil
}

// span is when a call began and ended, since a line was made.
type span struct{ began, ended time.Duration }

// spans is an asker that notes when its call began and ended.
type spans struct {
	since time.Time
	span
	over chan struct{}
}

func (s *spans) begun() { s.began = time.Since(s.since) }

func (s *spans) done(*search.Answer, error) {
	s.ended = time.Since(s.since)
	close(s.over)
}

// asked is a line and its slaves.
type asked struct {
	*line
	t           *testing.T
	since       time.Time
	under, most atomic.Int64
}

// one has a slave asked whose search takes a time.
func (a *asked) one(takes time.Duration) *spans {
	s := &spans{since: a.since, over: make(chan struct{})}
	a.ask(a.t.Context(), &timed{takes: takes, under: &a.under, most: &a.most}, new(search.Request), s)
	return s
}

// TestLine: brief searches of a query are made one after the other, in the order in which they
// come, and a call counts from when its slave is asked; once they have taken longer than brief, no other one waits for them.
func TestLine(t *testing.T) {
	const us, s = time.Microsecond, time.Second
	for name, c := range map[string]struct {
		left  time.Duration // of the query's time
		takes []time.Duration
		want  []span
		most  int64 // under way at a time
	}{
		"one":           {s, []time.Duration{20 * us}, []span{{0, 20 * us}}, 1},
		"brief":         {s, []time.Duration{20 * us, 10 * us, 30 * us}, []span{{0, 20 * us}, {20 * us, 30 * us}, {30 * us, 60 * us}}, 1},
		"the first":     {s, []time.Duration{s, 10 * us, 10 * us}, []span{{0, s}, {brief, brief + 10*us}, {brief, brief + 10*us}}, 3},
		"in the middle": {s, []time.Duration{10 * us, s, s}, []span{{0, 10 * us}, {10 * us, s + 10*us}, {brief, s + brief}}, 2},
		"together": {s, []time.Duration{400 * us, 400 * us, 400 * us, 400 * us},
			[]span{{0, 400 * us}, {400 * us, 800 * us}, {800 * us, 1200 * us}, {brief, brief + 400*us}}, 2},
		"no time": {brief, []time.Duration{s, 10 * us}, []span{{0, s}, {brief / patience, brief/patience + 10*us}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.left)
				defer cancel()
				a := &asked{line: newLine(ctx, len(c.takes)), t: t, since: time.Now()}
				var calls []*spans
				for _, takes := range c.takes {
					calls = append(calls, a.one(takes))
				}
				for i, call := range calls {
					if <-call.over; call.span != c.want[i] {
						t.Errorf("call %d: %v, want %v", i, call.span, c.want[i])
					}
				}
				if n := a.most.Load(); n != c.most {
					t.Errorf("%d at a time, want %d", n, c.most)
				}
			})
		})
	}
}

// TestLineGoesOn: a query that asks again later is answered at once, whether its line has come to
// its end or hangs.
func TestLineGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{line: newLine(t.Context(), 1), t: t, since: time.Now()}
		takes := func(d time.Duration) {
			t.Helper()
			at := time.Since(a.since)
			s := a.one(d)
			if <-s.over; s.ended != at+d {
				t.Errorf("asked at %v, it ended at %v", at, s.ended)
			}
		}
		takes(brief / 2)
		time.Sleep(brief)
		takes(brief / 4)
		hangs := a.one(time.Second)
		time.Sleep(2 * brief)
		takes(brief / 4)
		<-hangs.over
	})
}

// TestGivenUpWhileItWaits: calls may be begun in a line while their query is given up, which the race detector
// watches.
func TestGivenUpWhileItWaits(t *testing.T) {
	m := &Map{Epoch: 1, View: 5}
	for _, name := range []string{"a", "b", "c"} {
		m.Shards = append(m.Shards, single(name, Concurrent(&hanging{part: part{keywords: []uint64{1}}})))
	}
	f := New(&listedMaps{list: []*Map{m}}, quick{})
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(time.Millisecond, cancel)
		_, _ = f.Search(ctx, &search.Request{Query: new(search.Query), Slots: 3})
		cancel()
	}
}
