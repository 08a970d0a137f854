package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/search"
)

const (
	// mostReplied bounds the bytes of replies that wait to be sent. Above mostUnread bytes the
	// stream accepts no asks.
	mostReplied = wire.MaxReply
	mostUnread  = 4 << 20
)

var (
	errEnded  = fault.Newf(fault.Unavailable, "slave: stream", "the stream has ended")
	errUnread = fault.Newf(fault.Overloaded, "slave: stream", "the master does not take the replies as quickly as it asks")
)

// serving is a stream on the slave's side.
type serving struct {
	ctx     context.Context
	server  *Server
	gate    Gate
	out     *outbox
	greeted atomic.Bool // the hellos have been exchanged
	shard   search.ShardID
	limit   int
	failed  chan error    // receives the reason why the stream ends
	done    chan struct{} // closed when nothing more will be sent

	mu    sync.Mutex
	last  uint64           // the newest id; under mu
	under map[uint64]*item // asks without a reply; under mu
	ended bool             // no more asks may begin; under mu
	quiet chan struct{}    // closed when `under` is empty; made when something waits for that; under mu
}

func newServing(ctx context.Context, s *Server, pipe Pipe) *serving {
	st := &serving{ctx: ctx, server: s, gate: s.gate(), out: newOutbox(pipe, mostReplied),
		failed: make(chan error, 1), done: make(chan struct{}), under: make(map[uint64]*item)}
	go st.out.run(st.done)
	return st
}

// end drops what has not been sent, and cancels the asks under way.
func (st *serving) end() {
	st.out.end(errEnded)
	close(st.done)
	st.gate.Close()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.ended = true
	for _, i := range st.under {
		i.ctx.cancel()
	}
}

// finished returns a channel that is closed when all asks have been answered and the replies have
// been sent, or when the stream has ended.
func (st *serving) finished() <-chan struct{} {
	all := make(chan struct{})
	go func() {
		defer close(all)
		select {
		case <-st.settled():
			st.out.drain()
		case <-st.done:
		}
	}()
	return all
}

// settled returns a channel that is closed when every ask has a reply.
func (st *serving) settled() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.quiet == nil {
		st.quiet = make(chan struct{})
		if len(st.under) == 0 {
			close(st.quiet)
		}
	}
	return st.quiet
}

// goodbye tells the master that the slave accepts no more asks, without waiting. It returns false
// if the master cannot be told.
func (st *serving) goodbye() bool {
	if !st.greeted.Load() || st.out.queue(wire.AppendGoodbye(nil)) != nil {
		return false
	}
	st.out.flush(false)
	return true
}

// read handles what arrives until the peer ends the stream: it returns nil if that was in order,
// and an error otherwise. It never waits for a search, or for anything to be sent.
func (st *serving) read(pipe Pipe) error {
	frame, err := pipe.Receive()
	if err == nil {
		err = st.greet(frame)
	}
	for err == nil {
		if frame, err = pipe.Receive(); err == nil {
			err = wire.ReadMasterFrame(frame, st.ask, st.cancel)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// greet answers the hello of a master.
func (st *serving) greet(frame wire.Frame) error {
	master, err := wire.ParseHello(frame)
	if err != nil {
		return err
	}
	own := st.server.hello()
	own.Version, own.Features, own.Limit = version, 0, Most
	if err := meet(master, own); err != nil {
		return err
	}
	st.shard, st.limit = search.ShardID(master.GetShard()), limitOf(own)
	if frame, err = wire.HelloFrame(own); err != nil {
		return fault.New(fault.Internal, "slave: stream", err)
	}
	if err := st.out.queue(frame); err != nil {
		return err
	}
	st.out.flush(true) // in a frame of its own, before anything else can be queued; a new stream has room
	st.greeted.Store(true)
	return nil
}

// ask begins an ask.
func (st *serving) ask(a *wire.Ask) error {
	now := time.Now()
	i := &item{st: st, id: a.ID, view: a.View, tags: a.Tags, came: now, search: a.Search}
	i.ctx = itemContext{Context: st.ctx, deadline: now.Add(a.Left)}
	if err := st.count(i); err != nil {
		return err
	}
	err := errUnread
	if st.out.waiting() <= mostUnread {
		i.place, err = st.gate.Enter(&a.Tags, a.Left)
	}
	if err != nil {
		i.reply(nil, err, false) // not direct, since the reader must not wait until it is sent
		return nil
	}
	st.server.start(i)
	return nil
}

// count adds an ask to those under way, or returns an error if it may not begin.
func (st *serving) count(i *item) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.ended:
		return errEnded
	case i.id <= st.last:
		return fault.Newf(fault.Invalid, "slave: stream", "an ask with the id %d after %d; ids rise", i.id, st.last)
	case len(st.under) >= st.limit:
		return fault.Newf(fault.Invalid, "slave: stream", "more than %d asks under way, which the slave's hello does not allow", st.limit)
	}
	st.last = i.id
	st.under[i.id] = i
	return nil
}

// cancel ends an ask, unless its reply has been queued already.
func (st *serving) cancel(id uint64) {
	st.mu.Lock()
	i := st.under[id]
	st.mu.Unlock()
	if i != nil {
		i.ctx.cancel()
	}
}

// item is an ask under way.
type item struct {
	st     *serving
	ctx    itemContext
	id     uint64
	view   uint64
	tags   search.Tags
	came   time.Time
	search []byte
	place  Place
}

// run answers the ask and gives its place back.
func (i *item) run() {
	answer, err := i.answer()
	i.ctx.cancel() // nothing waits for it any more
	i.place.Leave()
	i.reply(answer, err, true)
}

func (i *item) answer() (answer *search.Answer, err error) {
	defer fault.Recover("slave: search", &err, nil) // the handler counts its own panics
	r, err := wire.ParseRequest(i.search)
	if err != nil {
		return nil, err
	}
	i.search = nil // so that the frame is not kept while the search waits and runs
	if err := i.place.Wait(&i.ctx); err != nil {
		return nil, err
	}
	if err := i.ctx.Err(); err != nil {
		return nil, fault.New(fault.KindOf(err), "slave: search", err)
	}
	r.View, r.Shard, r.Tags, r.Came = i.view, i.st.shard, i.tags, i.came
	return i.st.server.handle(&i.ctx, r)
}

// reply queues the reply. If `direct` is true, it also sends it, unless more replies are about to
// follow. After the end of the stream, the reply is lost.
func (i *item) reply(answer *search.Answer, err error, direct bool) {
	b := scratch.Get().(*[]byte)
	encoded := wire.AppendReply(*b, i.id, answer, err)
	if len(encoded) > mostReplied-frameBytes {
		encoded = wire.AppendReply(encoded[:0], i.id, nil, fault.Newf(fault.Internal, "slave: search", "the answer has %d bytes, more than a master takes", len(encoded)))
	}
	err = i.st.settle(i.id, encoded, direct)
	giveBack(b, encoded)
	if err == errFull {
		i.st.fail(err)
	}
}

// settle queues the reply to an ask, which is no longer under way then: the master may send another
// ask once it has the reply.
func (st *serving) settle(id uint64, encoded []byte, direct bool) error {
	st.mu.Lock()
	err := st.out.queue(encoded)
	delete(st.under, id)
	left := len(st.under)
	if left == 0 && st.quiet != nil {
		close(st.quiet)
	}
	st.mu.Unlock()
	if err == nil {
		st.out.flush(direct && left < few)
	}
	return err
}

// fail makes the stream end with an error.
func (st *serving) fail(err error) {
	select {
	case st.failed <- err:
	default:
	}
}
