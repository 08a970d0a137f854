package stream

import (
	"context"
	"sync"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Handler answers an ask, in the way of search.Searcher. The context has the ask's deadline.
type Handler func(ctx context.Context, r *search.Request) (*search.Answer, error)

// Gate admits the searches of one stream. Its methods are called by many goroutines.
type Gate interface {
	// Enter takes a place, at once, for an ask with this much time left. Errors: fault.Overloaded
	// if there is no place.
	Enter(tags *search.Tags, left time.Duration) (Place, error)
	// Close says that there will be no more asks.
	Close()
}

// Place is the place of one ask.
type Place interface {
	// Wait waits until the search may run. Errors: those of ctx.
	Wait(ctx context.Context) error
	// Leave gives the place back.
	Leave()
}

const (
	mostStreams = 1024 // of a slave
	mostOfPeer  = 2    // of one connection, so that a new stream can replace another
)

// Server serves the streams of a slave. Make it with NewServer; Close ends it.
type Server struct {
	hello  func() *pb.Hello
	gate   func() Gate
	handle Handler
	times  Times

	jobs    chan *item    // for an idle worker
	closed  chan struct{} // closed when no stream is left
	leaving chan struct{} // closed when no more streams may begin

	mu      sync.Mutex
	streams map[string]int // by peer; under mu
	count   int            // under mu
	left    bool           // leaving is closed; under mu
	all     sync.WaitGroup // counts streams
}

// NewServer returns a server. `hello` returns the present identity of the slave; `gate` makes the
// gate of one stream.
func NewServer(hello func() *pb.Hello, gate func() Gate, handle Handler, times Times) *Server {
	return &Server{hello: hello, gate: gate, handle: handle, times: times, jobs: make(chan *item),
		closed: make(chan struct{}), leaving: make(chan struct{}), streams: make(map[string]int)}
}

// Goodbye tells all masters that the slave accepts no more asks. Streams end when the asks under
// way have been answered, or after Times.Leave.
func (s *Server) Goodbye() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left {
		s.left = true
		close(s.leaving)
	}
}

// Close calls Goodbye, and waits until all streams have ended. Call it once.
func (s *Server) Close() {
	s.Goodbye()
	s.all.Wait()
	close(s.closed)
}

// Serve serves the stream of a peer, named by its address, until the stream ends. The caller ends
// the context of the pipe afterwards. Errors: fault.Unavailable after Goodbye, fault.Overloaded if
// there are too many streams, fault.Invalid if the peer breaks the protocol.
func (s *Server) Serve(ctx context.Context, pipe Pipe, peer string) error {
	if err := s.join(peer); err != nil {
		return err
	}
	defer s.part(peer)
	st := newServing(ctx, s, pipe)
	defer st.end()
	read := make(chan error, 1)
	go func() { read <- st.read(pipe) }()
	hello := time.NewTimer(s.times.Hello)
	defer hello.Stop()
	age := time.NewTimer(s.times.Age)
	defer age.Stop()
	var finished <-chan struct{} // set once the peer has ended the stream in order
	var late <-chan time.Time    // set once the slave has said goodbye
	for leaving := s.leaving; ; {
		select {
		case err := <-read:
			if err != nil {
				return err
			}
			finished = st.finished()
		case <-finished:
			return nil
		case err := <-st.failed:
			return err
		case <-ctx.Done():
			return fault.New(fault.KindOf(ctx.Err()), "slave: stream", ctx.Err())
		case <-hello.C:
			if !st.greeted.Load() {
				return fault.Newf(fault.Deadline, "slave: stream", "no hello within %v", s.times.Hello)
			}
		case <-age.C:
			return fault.Newf(fault.Unavailable, "slave: stream", "a stream is served for %v; open another", s.times.Age)
		case <-leaving:
			if !st.goodbye() {
				return errLeaves
			}
			leaving, late = nil, time.After(s.times.Leave)
		case <-late:
			return errLeaves
		}
	}
}

var errLeaves = fault.Newf(fault.Unavailable, "slave: stream", "the slave is shutting down")

// join counts a new stream, or returns an error if it may not begin.
func (s *Server) join(peer string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.left:
		return errLeaves
	case s.count >= mostStreams:
		return fault.Newf(fault.Overloaded, "slave: stream", "there are %d streams, as many as a slave serves", mostStreams)
	case s.streams[peer] >= mostOfPeer:
		return fault.Newf(fault.Overloaded, "slave: stream", "there are %d streams on this connection, as many as one may have", mostOfPeer)
	}
	s.streams[peer]++
	s.count++
	s.all.Add(1)
	return nil
}

func (s *Server) part(peer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[peer]--; s.streams[peer] == 0 {
		delete(s.streams, peer)
	}
	s.count--
	s.all.Done()
}

// start runs an item on an idle worker, or on a new one. There are at most as many workers as
// places at the gate. They are kept, since the stack of a new one has to grow each time.
func (s *Server) start(i *item) {
	select {
	case s.jobs <- i:
	default:
		go s.work(i)
	}
}

func (s *Server) work(i *item) {
	for {
		i.run()
		select {
		case i = <-s.jobs:
		case <-s.closed:
			return
		}
	}
}
