package fanout

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/search"
)

// hanging is a slave that answers after a millisecond. While it hangs, it does not answer until it
// continues.
type hanging struct {
	part
	hung  atomic.Pointer[chan struct{}]
	asked atomic.Int64
}

func (h *hanging) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	h.asked.Add(1)
	if hung := h.hung.Load(); hung != nil {
		select {
		case <-*hung:
		case <-ctx.Done():
			return nil, fault.New(fault.KindOf(ctx.Err()), "", ctx.Err())
		}
	}
	time.Sleep(time.Millisecond)
	return (&part{keywords: h.keywords}).Search(ctx, r)
}

func (h *hanging) hang() {
	hung := make(chan struct{})
	h.hung.Store(&hung)
}

func (h *hanging) goOn() { close(*h.hung.Swap(nil)) }

// result describes how queries ended.
type result struct {
	most     int // in progress at a time
	slowest  time.Duration
	complete int
	unnamed  int              // incomplete without a missing shard
	missing  []search.Missing // of the last incomplete answer
	ended    int
	err      error
}

// load sends queries with a deadline of 500 ms at a constant rate for the given time, whatever
// happens to them, and waits for the last one.
func load(ctx context.Context, f *Fanout, rate int, d time.Duration) (r result) {
	var all sync.WaitGroup
	var mu sync.Mutex
	under := 0
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second / time.Duration(rate)) {
		mu.Lock()
		under++
		r.most = max(r.most, under)
		mu.Unlock()
		all.Go(func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			a, err := f.Search(ctx, &search.Request{Query: new(search.Query), Slots: 3})
			mu.Lock()
			defer mu.Unlock()
			under--
			r.ended++
			r.slowest = max(r.slowest, time.Since(began))
			switch {
			case err != nil:
				r.err = errors.Join(r.err, err)
			case a.Width == search.WholeRing():
				r.complete++
			case len(a.Missing) == 0:
				r.unnamed++
			default:
				r.missing = a.Missing
			}
		})
	}
	all.Wait()
	return r
}

// looked runs a fan-out until `end` is called.
func looked(t *testing.T, f *Fanout) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = f.Run(ctx, slog.New(slog.DiscardHandler)) }()
	return ctx, func() { cancel(); <-done }
}

// TestAHungShardHoldsNobodyUp: at 800 queries a second with a deadline of 500 ms, fewer queries
// wait at any time than a master admits (256). After a second none waits, and answers are complete
// again as soon as the shard continues.
func TestAHungShardHoldsNobodyUp(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector, Go 1.26 now and then crashes on as many timers in one bubble")
	}
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{part: part{keywords: []uint64{2, 5, 8}}}
		a, c := &hanging{part: part{keywords: []uint64{1, 4, 7}}}, &hanging{part: part{keywords: []uint64{3, 6}}}
		m := &Map{Epoch: 1, View: 5, Shards: []Shard{single("a", Concurrent(a)), single("b", Concurrent(h)), single("c", Concurrent(c))}}
		n := new(noted)
		f := New(&listedMaps{list: []*Map{m}}, n)
		ctx, end := looked(t, f)
		defer end()
		const rate = 800
		if r := load(ctx, f, rate, time.Second); r.complete != r.ended || r.slowest > 10*time.Millisecond {
			t.Fatalf("healthy: %+v", r)
		}
		h.hang()
		if r := load(ctx, f, rate, time.Second); r.most > 220 || r.err != nil {
			t.Errorf("while the shard is found out: %+v", r)
		}
		probes := h.asked.Load()
		r := load(ctx, f, rate, 10*time.Second)
		if r.slowest > 10*time.Millisecond || r.complete > 0 || r.unnamed > 0 ||
			!slices.Equal(r.missing, []search.Missing{{Shard: "b", Reason: search.Silent}}) {
			t.Errorf("left out: %+v", r)
		}
		if probes = h.asked.Load() - probes; probes > 11 {
			t.Errorf("%d probes in 10 s", probes)
		}
		before := a.asked.Load()
		strict, err := f.Search(ctx, &search.Request{Slots: 3, Strict: true})
		if err != nil || len(strict.Missing) != 1 || strict.Width != (search.Width{}) || a.asked.Load() != before {
			t.Errorf("strict: %+v, %v, %d shards asked", strict, err, a.asked.Load()-before)
		}
		h.goOn()
		time.Sleep(2 * tickEvery)
		if r := load(ctx, f, rate, time.Second); r.complete != r.ended || r.slowest > 10*time.Millisecond {
			t.Errorf("afterwards: %+v", r)
		}
		end()
		if !slices.Equal(n.out, []string{"a ", "b ", "c ", "b silent", "b "}) {
			t.Errorf("told %q", n.out)
		}
	})
}

// swapped is a map that a test can replace.
type swapped struct{ atomic.Pointer[Map] }

func (s *swapped) Current() *Map                          { return s.Load() }
func (s *swapped) Newer(ctx context.Context, _ *Map) *Map { <-ctx.Done(); return nil }

// TestAShardThatLeavesTheMapIsNotLeftOut: a shard that is no longer in any map raises no alarm.
func TestAShardThatLeavesTheMapIsNotLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{part: part{keywords: []uint64{1}}}
		ms := new(swapped)
		ms.Store(&Map{Shards: []Shard{single("a", Concurrent(h))}})
		n := new(noted)
		f := New(ms, n)
		_, end := looked(t, f)
		defer end()
		h.hang()
		if _, err := ask(t, f, time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if a, err := ask(t, f, time.Second); err != nil || time.Since(began) > 0 || len(a.Missing) != 1 {
			t.Fatalf("the only shard is left out: %+v, %v after %v", a, err, time.Since(began))
		}
		ms.Store(&Map{Shards: []Shard{single("b", Concurrent(new(hanging)))}})
		time.Sleep(time.Second)
		end()
		if !slices.Equal(n.out, []string{"a ", "a silent", "b ", "a "}) {
			t.Fatalf("told %q", n.out)
		}
	})
}
