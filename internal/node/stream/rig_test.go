package stream

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// half is one end of a pipe in memory; a peer may have a few frames that the other end has not
// read.
type half struct {
	ctx     context.Context
	out, in *direction
}

// direction is what one end sends to the other.
type direction struct {
	frames chan wire.Frame
	once   sync.Once
	closed chan struct{}
	why    error // of the end; nil: io.EOF
}

func (d *direction) end(why error) { d.once.Do(func() { d.why = why; close(d.closed) }) }

func pipe(ctx context.Context) (master, slave half) {
	a := &direction{frames: make(chan wire.Frame, 2*few), closed: make(chan struct{})}
	b := &direction{frames: make(chan wire.Frame, 2*few), closed: make(chan struct{})}
	return half{ctx, a, b}, half{ctx, b, a}
}

func (h half) Send(frame wire.Frame) error {
	select {
	case <-h.ctx.Done():
		return h.ctx.Err()
	case <-h.out.closed:
		return io.EOF
	case h.out.frames <- append(wire.Frame(nil), frame...):
		return nil
	}
}

func (h half) CloseSend() error { h.out.end(nil); return nil }

func (h half) Receive() (wire.Frame, error) {
	select {
	case <-h.ctx.Done():
		return nil, h.ctx.Err()
	case frame := <-h.in.frames:
		return frame, nil
	case <-h.in.closed:
	}
	select {
	case frame := <-h.in.frames:
		return frame, nil
	default:
		if h.in.why != nil {
			return nil, h.in.why
		}
		return nil, io.EOF
	}
}

// free is a Gate with that many places, or none.
type free struct {
	places, most atomic.Int64
	closed       atomic.Int64
}

func (f *free) Enter(*search.Tags, time.Duration) (Place, error) {
	n := f.places.Add(1)
	if most := f.most.Load(); most > 0 && n > most {
		f.places.Add(-1)
		return nil, fault.Newf(fault.Overloaded, "test", "no place")
	}
	return f, nil
}
func (f *free) Wait(context.Context) error { return nil }
func (f *free) Leave()                     { f.places.Add(-1) }
func (f *free) Close()                     { f.closed.Add(1) }

// rig is a slave whose streams lie in memory.
type rig struct {
	*Server
	gate    free
	opened  atomic.Int64
	refuse  atomic.Pointer[error] // opening fails
	serving sync.WaitGroup
	ends    chan error // of Serve
}

// times are those of tests that have their own clock.
func times() Times { return DefaultTimes() }

func newRig(handle Handler, t Times) *rig {
	r := &rig{ends: make(chan error, 100)}
	r.Server = NewServer(func() *pb.Hello {
		return &pb.Hello{Words: words.Version(), Name: "slave-0", Database: "db", Instance: 5}
	}, func() Gate { return &r.gate }, handle, t)
	return r
}

// open is the Opener of the slave.
func (r *rig) open(ctx context.Context) (Pipe, error) {
	if err := r.refuse.Load(); err != nil {
		return nil, *err
	}
	r.opened.Add(1)
	master, slave := pipe(ctx)
	r.serve(ctx, slave)
	return master, nil
}

func (r *rig) serve(ctx context.Context, slave half) {
	ctx, cancel := context.WithCancel(ctx)
	slave.ctx = ctx
	r.serving.Go(func() {
		err := r.Serve(ctx, slave, "peer")
		slave.out.end(err)
		cancel()
		r.ends <- err
	})
}

func (r *rig) client(cfg Config) *Client {
	if cfg.Name == "" {
		cfg.Name = "slave-0"
	}
	if cfg.Times == (Times{}) {
		cfg.Times = times()
	}
	cfg.Log, cfg.Shard = slog.New(slog.DiscardHandler), 77
	return NewClient(cfg, r.open)
}

func (r *rig) close() {
	r.Close()
	r.serving.Wait()
}

// up waits until a client has a stream.
func up(t *testing.T, c *Client) {
	t.Helper()
	for range 10_000 {
		if c.Up() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("there is no stream")
}

var encoded = wire.AppendRequest(nil, &search.Request{Query: new(search.Query), Slots: 4, Profile: search.DefaultProfile()})

// ask asks over the stream with a deadline.
func ask(ctx context.Context, c *Client, view uint64, d time.Duration) (*search.Answer, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return searched(ctx, c, &wire.Ask{View: view, Search: encoded})
}

// searched sends an ask, whose deadline is that of ctx, and waits for its reply; asked is
// false if it was not sent for want of a stream.
func searched(ctx context.Context, c *Client, a *wire.Ask) (answer *search.Answer, asked bool, err error) {
	type reply struct {
		answer *search.Answer
		err    error
	}
	replies := make(chan reply, 1)
	deadline, _ := ctx.Deadline()
	a.Left = time.Until(deadline)
	pending, err := c.Ask(a, func(a *search.Answer, err error) { replies <- reply{a, err} })
	if err != nil {
		return nil, !fault.Is(err, fault.Unavailable), err
	}
	select {
	case r := <-replies:
		return r.answer, true, r.err
	case <-ctx.Done():
		pending.GiveUp(ctx.Err())
		return nil, true, fault.New(fault.KindOf(ctx.Err()), "test", ctx.Err())
	}
}

// echo answers with the view.
func echo(_ context.Context, r *search.Request) (*search.Answer, error) {
	return &search.Answer{View: r.View, Shard: r.Shard, Shards: 1, Answered: 1}, nil
}

// raw is a master that keeps to no rules.
type raw struct {
	t    *testing.T
	half half
}

// rawMaster opens a stream, and greets unless name is empty.
func rawMaster(ctx context.Context, t *testing.T, r *rig, name string) raw {
	master, slave := pipe(ctx)
	r.serve(ctx, slave)
	m := raw{t, master}
	if name != "" {
		m.greet(&pb.Hello{Words: words.Version(), Version: version, Name: name})
	}
	return m
}

func (m raw) greet(h *pb.Hello) {
	frame, err := wire.HelloFrame(h)
	if err == nil {
		err = m.half.Send(frame)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// hello takes the slave's hello.
func (m raw) hello() *pb.Hello {
	m.t.Helper()
	frame, err := m.half.Receive()
	if err != nil {
		m.t.Fatal(err)
	}
	h, err := wire.ParseHello(frame)
	if err != nil {
		m.t.Fatal(err)
	}
	return h
}

func (m raw) ask(ids ...uint64) error {
	var frame []byte
	for _, id := range ids {
		frame = wire.AppendAsk(frame, &wire.Ask{ID: id, View: id, Left: time.Second, Search: encoded})
	}
	return m.half.Send(frame)
}
