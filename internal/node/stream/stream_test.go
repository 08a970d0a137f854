package stream

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// TestSearchesGoOverTheStream: each gets the answer to its own ask, many at once and in
// any order.
func TestSearchesGoOverTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			time.Sleep(time.Duration(q.View%7) * time.Millisecond)
			if q.View%5 == 0 {
				return nil, fault.Newf(fault.Stale, "slave: search", "view %d is over", q.View)
			}
			return echo(ctx, q)
		}, times())
		c := r.client(Config{Database: "db"})
		up(t, c)
		var all sync.WaitGroup
		for view := range uint64(500) {
			all.Go(func() {
				a, asked, err := ask(t.Context(), c, view, time.Second)
				switch {
				case !asked:
					t.Errorf("%d: not asked", view)
				case view%5 == 0 && (!fault.Is(err, fault.Stale) || !strings.HasPrefix(err.Error(), "slave: search: view")):
					t.Errorf("%d: %v", view, err)
				case view%5 != 0 && (err != nil || a.View != view || a.Shard != 77):
					t.Errorf("%d: %+v, %v", view, a, err)
				}
			})
		}
		all.Wait()
		if n := r.gate.places.Load(); n != 0 || r.opened.Load() != 1 {
			t.Errorf("%d places taken, %d streams", n, r.opened.Load())
		}
		c.Close()
		r.close()
		if r.gate.closed.Load() != 1 {
			t.Error("the gate is not closed")
		}
	})
}

// TestASlowSearchHoldsNobodyUp: neither those before it nor those behind it in its frame.
func TestASlowSearchHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.View%100 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		var all sync.WaitGroup
		for view := range uint64(1000) {
			all.Go(func() {
				began := time.Now()
				if _, _, err := ask(t.Context(), c, view, time.Second); err != nil || time.Since(began) != 0 && view%100 != 0 {
					t.Errorf("%d: %v after %v", view, err, time.Since(began))
				}
			})
		}
		all.Wait()
		c.Close()
		r.close()
	})
}

// TestWhatAnAskCarries: tags, deadline and cancellation reach the slave.
func TestWhatAnAskCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tags := search.Tags{Low: true, Tenant: "a", Least: search.Position{Clock: 9, Mark: 8}, Hedge: true, Trace: strings.Repeat("t", wire.TraceBytes)}
		ended := make(chan error, 1)
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.View == 1 {
				deadline, ok := ctx.Deadline()
				if q.Tags != tags || q.Came.IsZero() || !ok || time.Until(deadline) != time.Second || ctx.Err() != nil {
					t.Errorf("tags %+v, deadline in %v", q.Tags, time.Until(deadline))
				}
				return echo(ctx, q)
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}, times())
		c := r.client(Config{})
		up(t, c)
		tagged := func(tags search.Tags) (*search.Answer, bool, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return searched(ctx, c, &wire.Ask{View: 1, Tags: tags, Search: encoded})
		}
		if _, _, err := tagged(tags); err != nil {
			t.Error(err)
		}
		if _, _, err := tagged(search.Tags{Tenant: "\xff"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("bad tags: %v", err)
		}
		began := time.Now()
		if _, _, err := ask(t.Context(), c, 2, time.Second); !fault.Is(err, fault.Deadline) || time.Since(began) != time.Second || <-ended != context.DeadlineExceeded {
			t.Errorf("too late: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(time.Second, cancel)
		if _, _, err := searched(ctx, c, &wire.Ask{View: 2, Search: encoded}); !fault.Is(err, fault.Cancelled) || <-ended != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
		synctest.Wait()
		if s := c.now.Load(); len(s.pending) != 0 || s.bytes != 0 {
			t.Errorf("still under way: %v, %d bytes", s.pending, s.bytes)
		}
		c.Close()
		r.close()
	})
}

// TestGoodbye: what is under way is answered, nothing more is asked, and the stream is
// not opened again until the slave is back.
func TestGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			time.Sleep(100 * time.Millisecond)
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		answered := make(chan error, 1)
		go func() { _, _, err := ask(t.Context(), c, 1, time.Second); answered <- err }()
		synctest.Wait()
		began := time.Now()
		r.close()
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("ended after %v", took)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
		ends := 0 // of the stream; those opened meanwhile are refused
		for len(r.ends) > 0 {
			if <-r.ends == nil {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%d streams ended in order", ends)
		}
		if _, asked, _ := ask(t.Context(), c, 2, time.Second); asked {
			t.Error("asked after the goodbye")
		}
		c.Close()
	})
}

// TestASlowAnswerDoesNotHoldUpTheEnd: a slow answer does not hold up the end of a slave.
func TestASlowAnswerDoesNotHoldUpTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, times())
		c := r.client(Config{})
		up(t, c)
		answered := make(chan error, 1)
		go func() { _, _, err := ask(t.Context(), c, 1, time.Minute); answered <- err }()
		synctest.Wait()
		began := time.Now()
		r.close()
		if took := time.Since(began); took != times().Leave {
			t.Errorf("ended after %v", took)
		}
		if err := <-answered; !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		c.Close()
	})
}

// TestAStreamIsReplacedWithoutABreak: nothing fails, and what is under way on the old one
// is answered there.
func TestAStreamIsReplacedWithoutABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			time.Sleep(3 * time.Second)
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		var all sync.WaitGroup
		var failed atomic.Int64
		for end := time.Now().Add(3 * time.Hour); time.Now().Before(end); time.Sleep(2 * time.Second) {
			all.Go(func() {
				if a, asked, err := ask(t.Context(), c, 1, 5*time.Second); !asked || err != nil || a.View != 1 {
					failed.Add(1)
				}
			})
		}
		all.Wait()
		if n := r.opened.Load(); failed.Load() > 0 || n < 4 || n > 5 {
			t.Errorf("%d searches failed, %d streams in three hours", failed.Load(), n)
		}
		synctest.Wait()
		if n := len(r.streams); n != 1 || r.count != 1 {
			t.Errorf("%d streams are open", r.count)
		}
		c.Close()
		r.close()
	})
}

// TestAClientTriesAgain: a client tries again, with pauses that grow, whatever is wrong; until
// it is up asks are refused at once, and say why.
func TestAClientTriesAgain(t *testing.T) {
	for kind, told := range map[fault.Kind]fault.Kind{fault.Unavailable: fault.Unavailable, fault.Deadline: fault.Unavailable,
		fault.Version: fault.Version, fault.Conflict: fault.Conflict} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(echo, times())
			var tried atomic.Int64
			down := fault.Newf(kind, "test", "no")
			c := NewClient(r.clientConfig(), func(ctx context.Context) (Pipe, error) {
				tried.Add(1)
				if time.Since(start(t)) < time.Minute {
					return nil, down
				}
				return r.open(ctx)
			})
			time.Sleep(59 * time.Second)
			if n := tried.Load(); n > 120 || n < 59 || c.Up() {
				t.Errorf("%v: %d attempts in a minute", kind, n)
			}
			began := time.Now()
			if _, _, err := ask(t.Context(), c, 3, time.Second); fault.KindOf(err) != told || time.Since(began) > 0 {
				t.Errorf("%v: %v after %v", kind, err, time.Since(began))
			}
			time.Sleep(2*time.Second + times().LongestPause)
			if a, asked, err := ask(t.Context(), c, 3, time.Second); !asked || err != nil || a.View != 3 {
				t.Errorf("%v: %v, %v, %v", kind, a, asked, err)
			}
			c.Close()
			r.close()
		})
	}
}

// slow makes a client whose streams take a time to open.
func (r *rig) slow(takes time.Duration) *Client {
	return NewClient(r.clientConfig(), func(ctx context.Context) (Pipe, error) {
		time.Sleep(takes)
		return r.open(ctx)
	})
}

// TestAsksWaitForTheFirstStream: asks wait for the first stream, and for the next one when it
// breaks, with what is left of their time; not those that were given up.
func TestAsksWaitForTheFirstStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 100 * time.Millisecond
		var answered atomic.Int64
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			deadline, _ := ctx.Deadline()
			if left := time.Until(deadline); left != time.Second-takes || q.View != 2 {
				t.Errorf("a search of view %d with %v left", q.View, left)
			}
			answered.Add(1)
			return echo(ctx, q)
		}, times())
		c := r.slow(takes)
		for range 3 {
			var all sync.WaitGroup
			for view := range uint64(2) {
				all.Go(func() {
					if _, _, err := ask(t.Context(), c, view, takes/2); !fault.Is(err, fault.Deadline) {
						t.Errorf("given up: %v", err)
					}
				})
			}
			began := time.Now()
			if a, _, err := ask(t.Context(), c, 2, time.Second); err != nil || a.View != 2 || time.Since(began) != takes {
				t.Errorf("%+v, %v after %v", a, err, time.Since(began))
			}
			all.Wait()
			time.Sleep(2 * times().LongestPause)
			c.now.Load().cancel() // as when the connection is lost
			synctest.Wait()
		}
		if answered.Load() != 3 {
			t.Errorf("%d searches", answered.Load())
		}
		c.Close()
		r.close()
	})
}

// TestReconnect: what waits for a stream that cannot be opened fails; in the pause that
// follows asks are refused, until Reconnect begins the next attempt, for which they wait.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = time.Millisecond
		r := newRig(echo, times())
		down := fault.Newf(fault.Unavailable, "test", "connection refused")
		r.refuse.Store(&down)
		c := r.slow(takes)
		asks := func(want fault.Kind, after time.Duration) {
			t.Helper()
			began := time.Now()
			_, _, err := ask(t.Context(), c, 2, time.Second)
			if took := time.Since(began); took > after || took == 0 && after > 0 || err == nil != (want == 0) || err != nil && !fault.Is(err, want) {
				t.Errorf("%v after %v", err, took)
			}
		}
		c.Reconnect() // it tries already
		asks(fault.Unavailable, takes)
		time.Sleep(time.Minute)
		asks(fault.Unavailable, 0)
		c.Reconnect()
		c.Reconnect()
		asks(fault.Unavailable, takes)
		asks(fault.Unavailable, 0)
		r.refuse.Store(nil)
		c.Reconnect()
		asks(0, takes)
		c.Close()
		asks(fault.Unavailable, 0)
		r.close()
	})
}

// TestReconnectAtAnyMoment: as soon as an ask has failed, in the pause, and while the
// attempt that follows it is under way, asks wait after Reconnect.
func TestReconnectAtAnyMoment(t *testing.T) {
	const takes = 100 * time.Millisecond
	for _, after := range []time.Duration{takes, takes + time.Millisecond, takes + times().FirstPause + time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(echo, times())
			down := fault.Newf(fault.Unavailable, "test", "connection refused")
			r.refuse.Store(&down)
			c := r.slow(takes)
			reconnect := func() { r.refuse.Store(nil); c.Reconnect() }
			failed := func(*search.Answer, error) {
				if after == takes {
					reconnect()
				}
			}
			if _, err := c.Ask(&wire.Ask{View: 2, Left: time.Second, Search: encoded}, failed); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			synctest.Wait()
			if after > takes {
				reconnect()
			}
			if _, _, err := ask(t.Context(), c, 2, time.Second); err != nil {
				t.Errorf("after %v: %v", after, err)
			}
			c.Close()
			r.close()
		})
	}
}

// TestAStreamThatBreaksFailsWhatIsUnderWay: a stream that breaks fails what is under way, at
// once, and is opened again.
func TestAStreamThatBreaksFailsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.View == 0 {
				return echo(ctx, q)
			}
			<-hold
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		var all sync.WaitGroup
		var failed atomic.Int64
		for view := range uint64(1000) {
			all.Go(func() {
				if _, _, err := ask(t.Context(), c, view+1, time.Minute); fault.Is(err, fault.Unavailable) {
					failed.Add(1)
				}
			})
		}
		synctest.Wait()
		if n := r.gate.places.Load(); n != 1000 {
			t.Fatalf("%d searches under way", n)
		}
		began := time.Now()
		c.now.Load().cancel() // as when the connection is lost
		all.Wait()
		if failed.Load() != 1000 || time.Since(began) > 0 {
			t.Errorf("%d failed after %v", failed.Load(), time.Since(began))
		}
		up(t, c)
		if _, asked, err := ask(t.Context(), c, 0, time.Second); !asked || err != nil {
			t.Errorf("afterwards: %v", err)
		}
		close(hold)
		synctest.Wait()
		if n := r.gate.places.Load(); n != 0 {
			t.Errorf("%d places are not given back", n)
		}
		c.Close()
		r.close()
	})
}

// TestVersionsAndIdentity: who cannot speak with each other says so, and the client goes
// on without a stream.
func TestVersionsAndIdentity(t *testing.T) {
	for _, v := range []struct {
		master *pb.Hello
		kind   fault.Kind
		ok     bool
	}{
		{&pb.Hello{Words: words.Version(), Version: 1, Name: "slave-0", Database: "db"}, 0, true},
		{&pb.Hello{Words: words.Version(), Version: 9, Name: "slave-0", Features: 1 << 40}, 0, true},
		{&pb.Hello{Words: words.Version(), Version: 1, Name: "slave-1"}, fault.Conflict, false},
		{&pb.Hello{Words: words.Version(), Version: 1, Name: "slave-0", Database: "other"}, fault.Conflict, false},
		{&pb.Hello{Words: words.Version(), Version: 1, Name: "slave-0", Wanted: 5}, 0, true},
		{&pb.Hello{Words: words.Version(), Version: 1, Name: "slave-0", Wanted: 7}, fault.Conflict, false},
		{&pb.Hello{Words: words.Version(), Name: "slave-0"}, fault.Invalid, false},
		{&pb.Hello{Version: 1, Name: "slave-0", Words: "rules 1; of an older program"}, fault.Version, false},
		{&pb.Hello{Version: 1, Name: "slave-0"}, fault.Version, false}, // from before words had a version
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(echo, times())
			m := rawMaster(t.Context(), t, r, "")
			m.greet(v.master)
			if v.ok {
				if h := m.hello(); h.GetVersion() != version || h.GetLimit() != Most || h.GetName() != "slave-0" {
					t.Errorf("%v: %v", v.master, h)
				}
				_ = m.half.CloseSend()
			}
			if err := <-r.ends; (err == nil) != v.ok || !v.ok && !fault.Is(err, v.kind) {
				t.Errorf("%v: %v", v.master, err)
			}
			r.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		c := r.client(Config{Name: "slave-9"})
		time.Sleep(time.Minute)
		if c.Up() || r.opened.Load() > 120 {
			t.Errorf("up: %v, %d attempts", c.Up(), r.opened.Load())
		}
		c.Close()
		r.close()
	})
}

func (r *rig) clientConfig() Config {
	return Config{Name: "slave-0", Times: times(), Log: discard}
}

// start is when the test's own clock began.
func start(*testing.T) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }
