package stream

import (
	"context"
	"log/slog"
	"math/rand/v2"
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

// script makes the frames of a peer that has said a right hello, from any bytes. Most of them are nearly right, so that
// what comes behind the first check is reached.
type script struct {
	from []byte
	item func(id uint64) []byte // a right one
	stop func(id uint64) []byte // a cancel, or a goodbye
	next uint64
}

func (s *script) byte() (b byte) {
	if len(s.from) > 0 {
		b, s.from = s.from[0], s.from[1:]
	}
	return b
}

// frames are those of the script, each made of one or more items.
func (s *script) frames() (all []wire.Frame) {
	var frame wire.Frame
	for len(s.from) > 0 {
		switch s.byte() % 8 {
		case 0, 1:
			s.next++
			frame = append(frame, s.item(s.next)...)
		case 2:
			frame = append(frame, s.item(uint64(s.byte())<<(s.byte()%57))...)
		case 3:
			frame = append(frame, s.stop(uint64(s.byte()))...)
		case 4: // anything
			n := min(int(s.byte()), len(s.from))
			frame, s.from = append(frame, s.from[:n]...), s.from[n:]
		case 5: // changed anywhere
			if len(frame) > 0 {
				frame[(int(s.byte())<<8|int(s.byte()))%len(frame)] ^= s.byte()
			}
		case 6: // cut off
			frame = frame[:len(frame)*int(s.byte())/255]
		case 7:
			all, frame = append(all, frame), nil
		}
	}
	return append(all, frame)
}

// FuzzPastTheHello has a peer on either side that has said a right hello and then sends anything. Some hundred scripts are
// in the corpus, so that each run of the tests has them.
func FuzzPastTheHello(f *testing.F) {
	dice := rand.New(rand.NewPCG(1, 0x73747265616d))
	for range 300 {
		text := make([]byte, 4+dice.IntN(60))
		for i := range text {
			text[i] = byte(dice.Uint32())
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		masterPastTheHello(t, text)
		slavePastTheHello(t, text)
	})
}

// masterPastTheHello: whatever a master with the right name sends, its own stream ends at worst. Each reply is to an
// ask that was sent, and the only one to it; no place stays taken, and other masters' streams go on.
func masterPastTheHello(t *testing.T, text []byte) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		other := r.client(Config{})
		up(t, other)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := rawMaster(ctx, t, r, "slave-0")
		m.hello()
		s := script{from: text, stop: func(id uint64) []byte { return wire.AppendCancel(nil, id) },
			item: func(id uint64) []byte {
				return wire.AppendAsk(nil, &wire.Ask{ID: id, View: id, Left: time.Second, Search: encoded})
			}}
		var replied sync.WaitGroup
		replied.Go(func() { onceEach(t, m) })
		replied.Go(func() {
			for _, frame := range s.frames() {
				if m.half.Send(frame) != nil {
					return
				}
			}
			_ = m.half.CloseSend()
		})
		if err := <-r.ends; fault.Is(err, fault.Internal) {
			t.Error(err)
		}
		cancel()
		replied.Wait()
		synctest.Wait()
		if n, closed := r.gate.places.Load(), r.gate.closed.Load(); n != 0 || closed != 1 || r.count != 1 {
			t.Errorf("%d places are taken, %d gates closed, %d streams", n, closed, r.count)
		}
		if _, asked, err := ask(t.Context(), other, 1, time.Second); !asked || err != nil {
			t.Errorf("another master: %v", err)
		}
		other.Close()
		r.close()
	})
}

// onceEach reads what a slave sends to the end.
func onceEach(t *testing.T, m raw) {
	seen := make(map[uint64]bool)
	for {
		frame, err := m.half.Receive()
		if err != nil {
			return
		}
		_, err = wire.ReadSlaveFrame(frame, func(r wire.Reply) error {
			if r.ID == 0 || seen[r.ID] {
				t.Errorf("a reply to %d, again: %v", r.ID, seen[r.ID])
			}
			seen[r.ID] = true
			_, err := r.Answer()
			if fault.Is(err, fault.Internal) {
				t.Error(err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// slavePastTheHello: whatever a slave with the right name sends, each ask has one outcome, in time, and the master
// opens another stream, over which it is answered once the slave keeps to the rules.
func slavePastTheHello(t *testing.T, text []byte) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(echo, times())
		var opened atomic.Int64
		c := NewClient(Config{Name: "slave-0", Times: times(), Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context) (Pipe, error) {
			if opened.Add(1) > 1 {
				return r.open(ctx)
			}
			master, slave := pipe(ctx)
			go hostileSlave(slave, text)
			return master, nil
		})
		up(t, c)
		var outcomes [20]atomic.Int64
		for i := range outcomes {
			_, err := c.Ask(&wire.Ask{View: 1, Left: time.Second, Search: encoded}, func(*search.Answer, error) { outcomes[i].Add(1) })
			if err != nil { // nothing was sent, and nothing comes
				outcomes[i].Add(1)
			}
		}
		time.Sleep(4 * times().Stuck)
		for i := range outcomes {
			if n := outcomes[i].Load(); n != 1 {
				t.Errorf("ask %d has %d outcomes", i, n)
			}
		}
		if _, asked, err := ask(t.Context(), c, 1, time.Second); opened.Load() > 1 && (!asked || err != nil) {
			t.Errorf("after %d streams: %v", opened.Load(), err)
		}
		c.Close()
		r.close()
		time.Sleep(time.Second) // until the slave has seen it
	})
}

// hostileSlave says hello, waits for the first ask and follows a script.
func hostileSlave(slave half, text []byte) {
	frame, _ := wire.HelloFrame(&pb.Hello{Words: words.Version(), Version: version, Name: "slave-0"})
	_ = slave.Send(frame)
	_, _ = slave.Receive() // hello
	_, _ = slave.Receive() // an ask, or more
	answer, _ := echo(slave.ctx, &search.Request{View: 1})
	s := script{from: text, stop: func(uint64) []byte { return wire.AppendGoodbye(nil) },
		item: func(id uint64) []byte { return wire.AppendReply(nil, id, answer, nil) }}
	for _, frame := range s.frames() {
		if slave.Send(frame) != nil {
			return
		}
	}
}
