package stream

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// hanging answers when its context ends.
func hanging(ctx context.Context, _ *search.Request) (*search.Answer, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAHalfClosedStreamEnds: a master that has half-closed its stream cannot keep the
// slave from stopping, neither by searches that take long nor by not reading, and its
// stream does not outlive the oldest that there may be.
func TestAHalfClosedStreamEnds(t *testing.T) {
	const long = time.Hour // of an ask
	for name, c := range map[string]struct {
		asks uint64
		by   func(r *rig)
		ends time.Duration
	}{
		"the slave stops":                    {1, func(r *rig) { r.Goodbye() }, times().Leave},
		"the slave stops, nobody reads":      {100, func(r *rig) { r.Goodbye() }, times().Leave},
		"a stream that is too old":           {1, func(*rig) {}, long},
		"a stream that is old, nobody reads": {100, func(*rig) {}, times().Age},
	} {
		synctest.Test(t, func(t *testing.T) {
			handle := echo
			if c.asks == 1 {
				handle = hanging
			}
			r := newRig(handle, times())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := rawMaster(ctx, t, r, "slave-0")
			m.hello()
			for id := range c.asks {
				_ = m.half.Send(wire.AppendAsk(nil, &wire.Ask{ID: id + 1, View: 1, Left: long, Search: encoded}))
				synctest.Wait() // so that each reply is a frame
			}
			_ = m.half.CloseSend()
			synctest.Wait()
			began := time.Now()
			c.by(r)
			select {
			case <-r.ends:
			case <-time.After(2 * times().Age):
				t.Fatalf("%s: the stream has not ended", name)
			}
			if took := time.Since(began); took > c.ends {
				t.Errorf("%s: it ended after %v", name, took)
			}
			r.close()
		})
	}
}

// TestRefusalsDoNotStopTheReader: what a slave refuses is sent by another goroutine than
// the one that reads, which goes on if the master does not take it.
func TestRefusalsDoNotStopTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(hanging, times())
		r.gate.most.Store(1)
		r.gate.places.Store(1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := rawMaster(ctx, t, r, "slave-0")
		m.hello()
		for id := range uint64(100) {
			if err := m.ask(id + 1); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		_ = m.half.Send(wire.Frame{0xff})
		synctest.Wait()
		if len(r.ends) == 0 {
			t.Fatal("the slave reads no more")
		}
		if err := <-r.ends; !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		r.close()
	})
}

// TestNothingBeginsOnceAStreamHasEnded: frames may be under way to the reader still.
func TestNothingBeginsOnceAStreamHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(hanging, times())
		_, slave := pipe(t.Context())
		st := newServing(t.Context(), r.Server, slave)
		st.limit = Most
		st.end()
		if err := st.ask(&wire.Ask{ID: 1, Left: time.Hour, Search: encoded}); err == nil || r.gate.places.Load() != 0 {
			t.Errorf("%v, %d places taken", err, r.gate.places.Load())
		}
		r.close()
	})
}

// TestAHelloStandsAlone: anything else in a frame with a hello would get no reply.
func TestAHelloStandsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := rawMaster(ctx, t, r, "")
		frame, err := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
		if err != nil {
			t.Fatal(err)
		}
		_ = m.half.Send(wire.AppendAsk(frame, &wire.Ask{ID: 1, Search: encoded}))
		if err := <-r.ends; !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		r.close()
	})
}

// deaf is a pipe of which only the sending half has broken.
type deaf struct{ half }

func (deaf) Send(wire.Frame) error { return io.EOF }

// TestAskingOverAStreamThatBreaks: the stream counts as down before its reader has noticed.
func TestAskingOverAStreamThatBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		master, slave := pipe(ctx)
		frame, err := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
		if err != nil || slave.Send(frame) != nil {
			t.Fatal(err)
		}
		s, err := begin(deaf{master}, cancel, &pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		ask := func() error {
			_, err := s.ask(&wire.Ask{Left: time.Second, Search: encoded}, func(_ *search.Answer, err error) { failed <- err })
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		if err := ask(); err != errDown {
			t.Errorf("the second ask: %v", err)
		}
		cancel()
		if err := <-failed; !fault.Is(err, fault.Unavailable) {
			t.Errorf("the first one: %v", err)
		}
		<-s.ended
	})
}
