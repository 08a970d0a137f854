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
	// mostAsked bounds the bytes of asks that wait to be sent.
	mostAsked = 8 << 20
	// mostDirect bounds the bytes of asks under way up to which a caller sends its own:
	// gRPC takes twice as many without waiting for the slave.
	mostDirect = 32 << 10
)

const searchOp = "master: search"

var (
	// errDown: there is no stream that takes asks.
	errDown = fault.Newf(fault.Unavailable, searchOp, "there is no stream to the slave")
	// errMost: as many searches are under way as the slave takes on a stream.
	errMost = fault.Newf(fault.Overloaded, searchOp, "as many searches are under way to the slave as one stream carries")
)

// session is one stream of a master. Make it with begin.
type session struct {
	out     *outbox
	cancel  func() // ends the pipe
	limit   int
	slave   *pb.Hello
	goodbye chan struct{} // closed when the slave takes no more asks
	ended   chan struct{} // closed when nothing more comes
	taken   []taken       // of the frame that is read, for read only

	mu      sync.Mutex
	last    uint64                // the newest id; under mu
	pending map[uint64]unanswered // asks without reply, by id; under mu
	bytes   int                   // of all in pending; under mu
	leaving bool                  // it takes no more asks; under mu
	over    bool                  // nothing more comes; under mu
	mark    uint64                // last, at the last look of stuck; under mu
}

// asked is an ask that was sent.
type asked struct {
	session *session
	id      uint64
}

// GiveUp implements Pending.
func (a asked) GiveUp(why error) { a.session.abandon(a.id, why) }

// unanswered is an ask without reply.
type unanswered struct {
	done  Done // nil: nothing waits
	bytes int
}

// taken is a reply that a caller waits for.
type taken struct {
	reply wire.Reply
	done  Done
}

// scratch are buffers to encode items in.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func giveBack(b *[]byte, grown []byte) {
	if cap(grown) <= frameBytes {
		*b = grown[:0]
		scratch.Put(b)
	}
}

// begin greets the slave and starts the session. It has two goroutines, which end
// with the pipe, which cancel ends.
func begin(pipe Pipe, cancel func(), own *pb.Hello) (*session, error) {
	frame, err := wire.HelloFrame(own)
	if err != nil {
		return nil, fault.New(fault.Internal, "stream: open", err)
	}
	if err := pipe.Send(frame); err != nil && !errors.Is(err, io.EOF) { // EOF: Receive says why
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

// kindOf returns the kind of an error of a pipe: its end is no defect.
func kindOf(err error) fault.Kind {
	if errors.Is(err, io.EOF) {
		return fault.Unavailable
	}
	return fault.KindOf(err)
}

// ask sends an ask, to which it gives an id; done is called once with what became of
// it. errDown and other errors: it was not sent, and done is not called.
func (s *session) ask(a *wire.Ask, done Done) (Pending, error) {
	if err := wire.CheckTags(&a.Tags); err != nil {
		return nil, err
	}
	if len(a.Search) > wire.MaxSearch-frameBytes {
		return nil, fault.Newf(fault.Invalid, searchOp, "the request has %d bytes; a slave takes %d", len(a.Search), wire.MaxSearch-frameBytes)
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

// queue appends an ask to b and queues it. Ids are queued in their order, since the
// slave counts on it. direct: the caller is to send it.
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
	case err != nil: // it breaks at this moment; read is about to find out why
		return item, false, errDown
	}
	s.pending[a.ID] = unanswered{done, len(item)}
	s.bytes += len(item)
	return item, len(s.pending) <= few && s.bytes <= mostDirect, nil
}

// abandon notes that a reply is no longer awaited. A cancel is sent unless the deadline
// has passed, which the slave knows itself.
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

// read takes what comes until the pipe ends. It never waits for anybody else.
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

// take passes on the replies of a frame, after the lock is released.
func (s *session) take(frame wire.Frame) error {
	err := s.sort(frame)
	for i := range s.taken {
		s.taken[i].done(s.taken[i].reply.Answer())
	}
	clear(s.taken)
	s.taken = s.taken[:0]
	return err
}

// sort notes the replies of a frame, and leaves in s.taken those that are awaited.
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

// leave makes the session end when nothing is under way any more.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	if len(s.pending) == 0 {
		s.out.close()
	}
}

// end fails what is under way.
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

// stuck reports whether an ask waits that was sent before the last look.
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
