package stream

import (
	"context"
	"errors"
	"io"
	"sync"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

const (
	// mostAsked bounds the bytes of asks that are waiting to be sent.
	mostAsked = 8 << 20
	// mostDirect bounds the bytes of asks under way up to which a caller sends its own ask: gRPC
	// accepts twice as many without waiting for the slave.
	mostDirect = 32 << 10
)

const searchOp = "master: search"

var (
	// errDown means that there is no stream that accepts asks.
	errDown = fault.Newf(fault.Unavailable, searchOp, "there is no stream to the slave")
	// errMost means that as many searches are under way as the slave accepts on a stream.
	errMost = fault.Newf(fault.Overloaded, searchOp, "as many searches are under way to the slave as one stream carries")
)

// session is a stream on the master's side. Make it with begin.
type session struct {
	out     *outbox
	cancel  func() // ends the pipe
	limit   int
	slave   *pb.Hello
	goodbye chan struct{} // closed when the slave accepts no more asks
	ended   chan struct{} // closed when nothing more will arrive
	taken   []taken       // replies of the frame being read; used only by read

	mu      sync.Mutex
	last    uint64                // id of the newest ask; under mu
	pending map[uint64]unanswered // asks without a reply, by id; under mu
	bytes   int                   // total bytes of pending; under mu
	leaving bool                  // the session accepts no more asks; under mu
	over    bool                  // nothing more will arrive; under mu
	mark    uint64                // value of last at the previous call of stuck; under mu
}

// asked is an ask that was sent.
type asked struct {
	session *session
	id      uint64
}

// GiveUp implements Pending.
func (a asked) GiveUp(why error) { a.session.abandon(a.id, why) }

// unanswered is an ask without a reply.
type unanswered struct {
	done  Done // nil if the reply is not awaited
	bytes int
}

// taken is a reply that a caller waits for.
type taken struct {
	reply wire.Reply
	done  Done
}

// scratch pools buffers for encoding items.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func giveBack(b *[]byte, grown []byte) {
	if cap(grown) <= frameBytes {
		*b = grown[:0]
		scratch.Put(b)
	}
}

// begin exchanges hellos with the slave and starts the session's two goroutines. They end with the
// pipe, which `cancel` ends.
func begin(pipe Pipe, cancel func(), own *pb.Hello) (*session, error) {
	frame, err := wire.HelloFrame(own)
	if err != nil {
		return nil, fault.New(fault.Internal, "stream: open", err)
	}
	if err := pipe.Send(frame); err != nil && !errors.Is(err, io.EOF) { // after EOF, Receive says why
		return nil, err
	}
	frame, err = pipe.Receive()
	if err != nil {
		return nil, fault.New(kindOf(err), "stream: open", err)
	}
	hello, err := wire.ParseHello(frame)
	if err != nil {
		return nil, err
	}
	if err := meet(own, hello); err != nil {
		return nil, err
	}
	s := &session{out: newOutbox(pipe, mostAsked), cancel: cancel, limit: limitOf(hello), slave: hello,
		pending: make(map[uint64]unanswered), goodbye: make(chan struct{}), ended: make(chan struct{})}
	go s.out.run(s.ended)
	go s.read(pipe)
	return s, nil
}

// kindOf returns the kind of a pipe's error. The end of a pipe is not a defect.
func kindOf(err error) fault.Kind {
	if errors.Is(err, io.EOF) {
		return fault.Unavailable
	}
	return fault.KindOf(err)
}

// ask sends an ask and sets its id. `done` is called once with the outcome. After an error, such as
// errDown, the ask was not sent and `done` is not called.
func (s *session) ask(a *wire.Ask, done Done) (Pending, error) {
	if err := wire.CheckTags(&a.Tags); err != nil {
		return nil, err
	}
	if len(a.Search) > wire.MaxSearch-frameBytes {
		return nil, fault.Newf(fault.Invalid, searchOp, "the request has %d bytes; a slave takes %d", len(a.Search), wire.MaxSearch-frameBytes)
	}
	if a.Corrects && s.slave.GetVersion() < withCorrections {
		return nil, fault.Newf(fault.Version, searchOp, "%s knows no corrections of misspelt words: update it", s.slave.GetName())
	}
	b := scratch.Get().(*[]byte)
	item, direct, err := s.queue(*b, a, done)
	giveBack(b, item)
	if err != nil {
		return nil, err
	}
	s.out.flush(direct)
	return asked{s, a.ID}, nil
}

// queue appends an ask to b and queues it. Asks are queued in the order of their ids, as the slave
// requires. `direct` reports whether the caller should send it.
func (s *session) queue(b []byte, a *wire.Ask, done Done) (item []byte, direct bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving || s.over:
		return b, false, errDown
	case len(s.pending) >= s.limit:
		return b, false, errMost
	}
	s.last++
	a.ID = s.last
	item = wire.AppendAsk(b, a)
	switch err := s.out.queue(item); {
	case err == errFull:
		return item, false, err
	case err != nil: // the stream has just broken; read is about to find out why
		return item, false, errDown
	}
	s.pending[a.ID] = unanswered{done, len(item)}
	s.bytes += len(item)
	return item, len(s.pending) <= few && s.bytes <= mostDirect, nil
}

// abandon records that a reply is no longer awaited. It sends a cancel unless the reason is the
// deadline, which the slave knows itself.
func (s *session) abandon(id uint64, why error) {
	s.mu.Lock()
	p, waits := s.pending[id]
	if waits {
		s.pending[id] = unanswered{nil, p.bytes}
	}
	s.mu.Unlock()
	if waits && errors.Is(why, context.Canceled) {
		if s.out.queue(wire.AppendCancel(nil, id)) == nil {
			s.out.flush(false)
		}
	}
}

// read handles what arrives until the pipe ends. It never waits for any other goroutine.
func (s *session) read(pipe Pipe) {
	for {
		frame, err := pipe.Receive()
		if err == nil {
			err = s.take(frame)
		}
		if err != nil {
			s.end(fault.Newf(fault.Unavailable, searchOp, "the stream to the slave broke: %w", err))
			return
		}
	}
}

// take passes on the replies of a frame, without holding the lock.
func (s *session) take(frame wire.Frame) error {
	err := s.sort(frame)
	for i := range s.taken {
		s.taken[i].done(s.taken[i].reply.Answer())
	}
	clear(s.taken)
	s.taken = s.taken[:0]
	return err
}

// sort records the replies of a frame, and puts those that are awaited into s.taken.
func (s *session) sort(frame wire.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	goodbye, err := wire.ReadSlaveFrame(frame, func(r wire.Reply) error {
		p, asked := s.pending[r.ID]
		if !asked {
			return fault.Newf(fault.Internal, "stream: receive", "the slave replied to %d, which is not under way", r.ID)
		}
		delete(s.pending, r.ID)
		s.bytes -= p.bytes
		if p.done != nil {
			s.taken = append(s.taken, taken{r, p.done})
		}
		return nil
	})
	if goodbye && !s.leaving {
		s.leaving = true
		close(s.goodbye)
	}
	if s.leaving && len(s.pending) == 0 {
		s.out.close()
	}
	return err
}

// leave makes the session end when no asks are under way any more.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	if len(s.pending) == 0 {
		s.out.close()
	}
}

// end fails the asks that are under way.
func (s *session) end(err error) {
	s.mu.Lock()
	left := s.pending
	s.pending, s.over = nil, true
	s.mu.Unlock()
	close(s.ended)
	s.out.end(err)
	for _, p := range left {
		if p.done != nil {
			p.done(nil, err)
		}
	}
}

// stuck reports whether an ask that was sent before the previous call is still waiting.
func (s *session) stuck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.mark
	s.mark = s.last
	for id := range s.pending {
		if id <= before {
			return true
		}
	}
	return false
}
