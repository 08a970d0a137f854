package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
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
	// errOver: the stream took no more asks before this one was sent.
	errOver = fault.Newf(fault.Unavailable, searchOp, "the stream to the slave has ended")
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
	calls   sync.Pool     // of *call

	mu      sync.Mutex
	last    uint64           // the newest id; under mu
	pending map[uint64]asked // asks without reply, by id; under mu
	bytes   int              // of all in pending; under mu
	leaving bool             // it takes no more asks; under mu
	over    bool             // nothing more comes; under mu
	mark    uint64           // last, at the last look of stuck; under mu
}

// asked is an ask without reply.
type asked struct {
	call  *call // nil: nobody waits
	bytes int
}

// call is a search that waits for its reply. One that was given up is never used
// again: its reply may still come.
type call struct{ done chan result }

type result struct {
	reply wire.Reply
	err   error
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
		pending: make(map[uint64]asked), goodbye: make(chan struct{}), ended: make(chan struct{})}
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

// search asks the slave what encoded says (wire.AppendRequest) and waits for its
// answer. errOver: it was not asked.
func (s *session) search(ctx context.Context, view uint64, encoded []byte) (*search.Answer, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil, fault.Newf(fault.Invalid, searchOp, "a search without a deadline is refused; set one")
	}
	tags := TagsOf(ctx)
	if err := tags.Valid(); err != nil {
		return nil, err
	}
	if len(encoded) > wire.MaxSearch-frameBytes {
		return nil, fault.Newf(fault.Invalid, searchOp, "the request has %d bytes; a slave takes %d", len(encoded), wire.MaxSearch-frameBytes)
	}
	c, _ := s.calls.Get().(*call)
	if c == nil {
		c = &call{done: make(chan result, 1)}
	}
	id, err := s.send(c, &wire.Ask{View: view, Left: time.Until(deadline), Tags: tags, Search: encoded})
	if err != nil {
		return nil, err
	}
	select {
	case r := <-c.done:
		s.calls.Put(c)
		if r.err != nil {
			return nil, r.err
		}
		return r.reply.Answer()
	case <-ctx.Done():
		s.abandon(id, ctx.Err())
		return nil, fault.New(fault.KindOf(ctx.Err()), searchOp, ctx.Err())
	}
}

// send gives an ask its id and queues it. Ids are queued in their order, since the
// slave counts on it.
func (s *session) send(c *call, a *wire.Ask) (id uint64, err error) {
	b := scratch.Get().(*[]byte)
	s.mu.Lock()
	switch {
	case s.leaving || s.over:
		err = errOver
	case len(s.pending) >= s.limit:
		err = errMost
	}
	if err != nil {
		s.mu.Unlock()
		return 0, err
	}
	s.last++
	a.ID = s.last
	item := wire.AppendAsk(*b, a)
	if err = s.out.queue(item); err == nil {
		s.pending[a.ID] = asked{c, len(item)}
		s.bytes += len(item)
	}
	direct := len(s.pending) <= few && s.bytes <= mostDirect
	s.mu.Unlock()
	giveBack(b, item)
	if err != nil {
		return 0, err
	}
	s.out.flush(direct)
	return a.ID, nil
}

// abandon notes that nobody waits for a reply any more. The slave knows the
// deadline, and is told of anything else.
func (s *session) abandon(id uint64, why error) {
	s.mu.Lock()
	a, waits := s.pending[id]
	if waits {
		s.pending[id] = asked{nil, a.bytes}
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

func (s *session) take(frame wire.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	goodbye, err := wire.ReadSlaveFrame(frame, func(r wire.Reply) error {
		a, asked := s.pending[r.ID]
		if !asked {
			return fault.Newf(fault.Internal, "stream: receive", "the slave replied to %d, which is not under way", r.ID)
		}
		delete(s.pending, r.ID)
		s.bytes -= a.bytes
		if a.call != nil {
			a.call.done <- result{reply: r} // there is room
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
	pending := s.pending
	s.pending, s.over = nil, true
	s.mu.Unlock()
	close(s.ended)
	s.out.end(err)
	for _, a := range pending {
		if a.call != nil {
			a.call.done <- result{err: err}
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
