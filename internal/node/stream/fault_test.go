package stream

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/display"
	"adshard/search/words"
)

var discard = slog.New(slog.DiscardHandler)

// TestAMasterThatBreaksTheRules: a master that breaks the rules ends its own stream, and
// nothing else.
func TestAMasterThatBreaksTheRules(t *testing.T) {
	hold := func(ctx context.Context, q *search.Request) (*search.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	many := func(n int) (ids []uint64) {
		for id := range n {
			ids = append(ids, uint64(id+1))
		}
		return ids
	}
	for name, c := range map[string]struct {
		does func(m raw)
		kind fault.Kind
	}{
		"an id twice":        {func(m raw) { _ = m.ask(1, 1) }, fault.Invalid},
		"an id of 0":         {func(m raw) { _ = m.ask(0) }, fault.Invalid},
		"an id that falls":   {func(m raw) { _ = m.ask(7, 6) }, fault.Invalid},
		"a flood":            {func(m raw) { _ = m.ask(many(1000)...); _ = m.ask(1001, 1002, 1003); _ = m.ask(many(1100)[1003:]...) }, fault.Invalid},
		"a frame of rubbish": {func(m raw) { _ = m.half.Send(wire.Frame{0xff, 0xff}) }, fault.Invalid},
		"a huge frame of asks": {func(m raw) {
			var frame []byte
			for id := range uint64(Most + 1) {
				frame = wire.AppendAsk(frame, &wire.Ask{ID: id + 1})
			}
			_ = m.half.Send(frame)
		}, fault.Invalid},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newRig(hold, times())
			other := r.client(Config{})
			up(t, other)
			m := rawMaster(ctx, t, r, "slave-0")
			m.hello()
			c.does(m)
			go func() { // it reads, whatever comes
				for {
					if _, err := m.half.Receive(); err != nil {
						return
					}
				}
			}()
			if err := <-r.ends; !fault.Is(err, c.kind) {
				t.Errorf("%s: %v", name, err)
			}
			synctest.Wait()
			if n := r.gate.places.Load(); n != 0 || r.count != 1 {
				t.Errorf("%s: %d places taken, %d streams", name, n, r.count)
			}
			if !other.Up() {
				t.Errorf("%s: another master's stream has ended", name)
			}
			other.Close()
			r.close()
		})
	}
}

// TestAFloodIsRefused: up to the limit of a stream, what finds no place is refused at once.
func TestAFloodIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, times())
		r.gate.most.Store(10)
		c := r.client(Config{})
		up(t, c)
		var all sync.WaitGroup
		var late, refused, most atomic.Int64
		for range Most + 50 {
			all.Go(func() {
				switch _, _, err := ask(t.Context(), c, 1, time.Second); {
				case err == errMost:
					most.Add(1)
				case fault.Is(err, fault.Deadline):
					late.Add(1)
				case fault.Is(err, fault.Overloaded):
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if late.Load() != 10 || refused.Load()+most.Load() != Most+40 || most.Load() > 50 {
			t.Errorf("%d late, %d refused, %d not sent", late.Load(), refused.Load(), most.Load())
		}
		c.Close()
		r.close()
	})
}

// TestAMasterThatNeverReads: searches go on for others, what it asks is refused once some
// replies wait, and nothing of it is left when the stream ends.
func TestAMasterThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searched atomic.Int64
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.Shard == 0 { // of the raw master
				searched.Add(1)
				return large(ctx, q)
			}
			return echo(ctx, q)
		}, times())
		other := r.client(Config{})
		up(t, other)
		ctx, cancel := context.WithCancel(t.Context())
		m := rawMaster(ctx, t, r, "slave-0")
		for sent := range uint64(200) {
			if err := m.ask(sent + 1); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, asked, err := ask(t.Context(), other, 1, time.Second); !asked || err != nil {
				t.Fatalf("another master after %d: %v", sent, err)
			}
		}
		if n := searched.Load(); n > 4*few || len(r.ends) > 0 {
			t.Errorf("%d searches, %d streams have ended", n, len(r.ends))
		}
		cancel()
		synctest.Wait()
		if n := r.gate.places.Load(); n != 0 || r.count != 1 {
			t.Errorf("%d places taken, %d streams", n, r.count)
		}
		other.Close()
		r.close()
	})
}

// TestRepliesThatNobodyReadsAreBounded: the answers to searches under way, too.
func TestRepliesThatNobodyReadsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("short: copies messages of many megabytes")
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			time.Sleep(100 * time.Millisecond)
			return large(ctx, q)
		}, times())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := rawMaster(ctx, t, r, "slave-0")
		for id := range uint64(30) {
			_ = m.ask(id + 1)
			synctest.Wait()
		}
		if err := <-r.ends; err != errFull {
			t.Error(err)
		}
		r.close()
	})
}

// large answers with 5 MiB.
func large(ctx context.Context, q *search.Request) (*search.Answer, error) {
	a, err := echo(ctx, q)
	keyword := bytes.Repeat([]byte("x"), 1<<20)
	for range 5 {
		a.Hits = append(a.Hits, search.Hit{Display: display.Pieces{Keyword: keyword}})
	}
	return a, err
}

// TestAnOlderSlaveGetsNoCorrections: a slave of a version that would take a correction for a synonym is not asked, and
// its other searches are not affected.
func TestAnOlderSlaveGetsNoCorrections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			version  uint32
			corrects bool
			refused  bool
		}{{withCorrections - 1, true, true}, {withCorrections - 1, false, false}, {withCorrections, true, false}} {
			client := NewClient(Config{Name: "slave-0", Times: times(), Log: discard}, func(ctx context.Context) (Pipe, error) {
				master, slave := pipe(ctx)
				frame, _ := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: c.version, Name: "slave-0"})
				_ = slave.Send(frame)
				return master, nil
			})
			up(t, client)
			_, err := client.Ask(&wire.Ask{Left: time.Second, Corrects: c.corrects}, func(*search.Answer, error) {})
			if fault.Is(err, fault.Version) != c.refused || !c.refused && err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			client.Close()
		}
	})
}

// TestASlaveThatNeverReads: callers come back in time, further ones are refused, and the
// stream is given up.
func TestASlaveThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		c := NewClient(Config{Name: "slave-0", Times: times(), Log: discard}, func(ctx context.Context) (Pipe, error) {
			opened.Add(1)
			master, slave := pipe(ctx)
			frame, _ := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
			_ = slave.Send(frame) // and that is all
			return master, nil
		})
		up(t, c)
		var all sync.WaitGroup
		var late, refused atomic.Int64
		for range 2 * Most {
			all.Go(func() {
				began := time.Now()
				_, asked, err := ask(t.Context(), c, 1, time.Second)
				switch {
				case !asked || time.Since(began) > time.Second:
					t.Errorf("asked %v, %v after %v", asked, err, time.Since(began))
				case fault.Is(err, fault.Deadline):
					late.Add(1)
				case fault.Is(err, fault.Overloaded):
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if late.Load() != Most || refused.Load() != Most {
			t.Errorf("%d late, %d refused", late.Load(), refused.Load())
		}
		time.Sleep(3 * times().Stuck)
		if opened.Load() != 2 {
			t.Errorf("%d streams were opened", opened.Load())
		}
		c.Close()
	})
}

// TestASlaveThatBreaksTheRules: what is under way fails, and the stream is opened again.
func TestASlaveThatBreaksTheRules(t *testing.T) {
	for name, does := range map[string]func(slave half){
		"a reply twice": func(s half) {
			reply := wire.AppendReply(nil, 1, nil, fault.Newf(fault.Stale, "", "x"))
			_ = s.Send(append(reply, reply...))
		},
		"a reply to nothing": func(s half) { _ = s.Send(wire.AppendReply(nil, 99, nil, fault.Newf(fault.Stale, "", "x"))) },
		"rubbish":            func(s half) { _ = s.Send(wire.Frame{0xff}) },
		"half-closed":        func(s half) { _ = s.CloseSend() },
	} {
		synctest.Test(t, func(t *testing.T) {
			var opened atomic.Int64
			c := NewClient(Config{Name: "slave-0", Times: times(), Log: discard}, func(ctx context.Context) (Pipe, error) {
				opened.Add(1)
				master, slave := pipe(ctx)
				frame, _ := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
				_ = slave.Send(frame)
				go func() {
					_, _ = slave.Receive() // hello
					_, _ = slave.Receive() // two asks, in one frame or two
					time.Sleep(time.Millisecond)
					does(slave)
				}()
				return master, nil
			})
			up(t, c)
			began := time.Now()
			errs := make(chan error, 2)
			for range 2 {
				go func() { _, _, err := ask(t.Context(), c, 1, time.Second); errs <- err }()
			}
			unavailable := 0
			for range 2 {
				if err := <-errs; fault.Is(err, fault.Unavailable) {
					unavailable++
				} else if !fault.Is(err, fault.Stale) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if unavailable == 0 || time.Since(began) > 2*time.Millisecond {
				t.Errorf("%s: %d of 2 failed, after %v", name, unavailable, time.Since(began))
			}
			time.Sleep(time.Second)
			if !c.Up() || opened.Load() != 2 {
				t.Errorf("%s: %d streams, up: %v", name, opened.Load(), c.Up())
			}
			c.Close()
			time.Sleep(time.Second) // until the slave has seen it
		})
	}
}

// TestAnswersAfterTheDeadlineAreDropped: answers after the deadline are dropped, and the stream
// goes on.
func TestAnswersAfterTheDeadlineAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.View > 0 {
				time.Sleep(3 * time.Second) // it does not look at its context
			}
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, _, err := ask(t.Context(), c, 1, time.Second); !fault.Is(err, fault.Deadline) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s := c.now.Load()
		a, _, err := ask(t.Context(), c, 0, time.Second)
		synctest.Wait()
		if err != nil || a.View != 0 || underWay(s) != 100 {
			t.Errorf("%+v, %v with %d under way", a, err, underWay(s))
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if underWay(s) != 0 || c.now.Load() != s {
			t.Errorf("%d are under way still", underWay(s))
		}
		c.Close()
		r.close()
	})
}

// underWay returns how many asks of a session have no reply.
func underWay(s *session) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// TestAMasterThatDies: a master that dies with a thousand searches under way: their contexts
// end, their places are given back.
func TestAMasterThatDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, times())
		ctx, cancel := context.WithCancel(t.Context())
		m := rawMaster(ctx, t, r, "slave-0")
		m.hello()
		for id := range uint64(1000) {
			if err := m.ask(id + 1); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := r.gate.places.Load(); n != 1000 {
			t.Fatalf("%d under way", n)
		}
		cancel()
		synctest.Wait()
		if n := r.gate.places.Load(); n != 0 || r.count != 0 || r.gate.closed.Load() != 1 {
			t.Errorf("%d places taken, %d streams", n, r.count)
		}
		r.close()
	})
}

// TestAMasterThatHalfCloses: a master that half-closes gets its answers first.
func TestAMasterThatHalfCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			time.Sleep(100 * time.Millisecond)
			return echo(ctx, q)
		}, times())
		m := rawMaster(t.Context(), t, r, "slave-0")
		m.hello()
		_ = m.ask(1, 2, 3)
		_ = m.half.CloseSend()
		replies := 0
		for {
			frame, err := m.half.Receive()
			if err == io.EOF {
				break
			}
			if _, err = wire.ReadSlaveFrame(frame, func(wire.Reply) error { replies++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-r.ends; err != nil || replies != 3 {
			t.Errorf("%d replies, %v", replies, err)
		}
		r.close()
	})
}

// TestSilentPeers: neither waits for a hello for ever.
func TestSilentPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		ctx, cancel := context.WithCancel(t.Context())
		rawMaster(ctx, t, r, "")
		began := time.Now()
		if err := <-r.ends; !fault.Is(err, fault.Deadline) || time.Since(began) != times().Hello {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		cancel()
		r.close()
		c := NewClient(r.clientConfig(), func(ctx context.Context) (Pipe, error) { master, _ := pipe(ctx); return master, nil })
		time.Sleep(time.Minute)
		if c.Up() {
			t.Error("up without a hello")
		}
		c.Close()
	})
}

// TestManyStreams: 64 masters on one slave, and what is beyond the bounds.
func TestManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		ctx, cancel := context.WithCancel(t.Context())
		for range mostOfPeer {
			rawMaster(ctx, t, r, "slave-0").hello()
		}
		synctest.Wait()
		rawMaster(ctx, t, r, "")
		if err := <-r.ends; !fault.Is(err, fault.Overloaded) {
			t.Errorf("a third one on a connection: %v", err)
		}
		cancel()
		synctest.Wait()
		r.mu.Lock()
		r.count = mostStreams
		r.mu.Unlock()
		if err := r.Serve(t.Context(), half{}, "other"); !fault.Is(err, fault.Overloaded) {
			t.Errorf("one more than there may be: %v", err)
		}
		r.count = 0
		r.close()
		if err := r.Serve(t.Context(), half{}, "other"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after the goodbye: %v", err)
		}
	})
}

// TestAPanicIsAFault: a panic is a fault of one ask.
func TestAPanicIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			if q.View == 1 {
				panic("boom")
			}
			return echo(ctx, q)
		}, times())
		c := r.client(Config{})
		up(t, c)
		if _, _, err := ask(t.Context(), c, 1, time.Second); !fault.Is(err, fault.Internal) {
			t.Error(err)
		}
		if _, _, err := ask(t.Context(), c, 2, time.Second); err != nil {
			t.Error(err)
		}
		c.Close()
		r.close()
	})
}

// TestMessagesAtTheSizeLimit: a request that is too large is not sent, a bad one fails
// alone, and a huge answer becomes a fault.
func TestMessagesAtTheSizeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := string(make([]byte, 1<<24))
		r := newRig(func(ctx context.Context, q *search.Request) (*search.Answer, error) {
			a, err := echo(ctx, q)
			for range q.View {
				a.Hits = append(a.Hits, search.Hit{Display: display.Pieces{Keyword: []byte(text)}})
			}
			return a, err
		}, times())
		c := r.client(Config{})
		up(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for size, want := range map[int]fault.Kind{wire.MaxSearch: fault.Invalid, wire.MaxSearch - frameBytes: fault.Invalid} {
			if _, asked, err := searched(ctx, c, &wire.Ask{Search: make([]byte, size)}); !asked || !fault.Is(err, want) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		if a, _, err := searched(ctx, c, &wire.Ask{View: 1, Search: encoded}); err != nil || len(a.Hits) != 1 || len(a.Hits[0].Display.Keyword) != 1<<24 {
			t.Errorf("16 MiB: %v", err)
		}
		if _, _, err := searched(ctx, c, &wire.Ask{View: 4, Search: encoded}); !fault.Is(err, fault.Internal) {
			t.Errorf("more than 64 MiB: %v", err)
		}
		if !c.Up() || r.opened.Load() != 1 {
			t.Error("the stream has ended")
		}
		c.Close()
		r.close()
	})
}
