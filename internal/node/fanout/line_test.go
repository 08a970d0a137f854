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

// span is when a call began and ended, measured from when its line was made.
type span struct{ began, ended time.Duration }

// TestLine: short searches of a query run one after the other, in order, and a call's time counts from when its slave
// is asked. When they have taken longer than `brief`, the others start without waiting.
func TestLine(t *testing.T) {
	const us, s = time.Microsecond, time.Second
	for name, c := range map[string]struct {
		left  time.Duration // time left for the query
		takes []time.Duration
		want  []span
		most  int64 // in progress at a time
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
				var under, most atomic.Int64
				var all sync.WaitGroup
				made, spans, l := time.Now(), make([]span, len(c.takes)), new(line)
				for i, takes := range c.takes {
					all.Add(1)
					l.searches = append(l.searches, queued{i, func() {
						defer all.Done()
						most.Store(max(most.Load(), under.Add(1)))
						time.Sleep(takes)
						under.Add(-1)
						spans[i].ended = time.Since(made)
					}})
				}
				l.begun = func(i int) { spans[i].began = time.Since(made) }
				l.run(ctx)
				all.Wait()
				if !slices.Equal(spans, c.want) {
					t.Errorf("%v, want %v", spans, c.want)
				}
				if n := most.Load(); n != c.most {
					t.Errorf("%d at a time, want %d", n, c.most)
				}
			})
		})
	}
}

// TestGivenUpWhileItWaits: calls may begin in a line while their query is given up. The race detector checks this.
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
