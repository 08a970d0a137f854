package stream

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// Config is a client's configuration.
type Config struct {
	// Database, Shard and Name identify the slave that is meant; Database may be empty.
	Database string
	Shard    search.ShardID
	Name     string
	Wanted   uint64 // the slave's instance (pb.Replica), or 0 for any
	Instance uint64 // of this process
	// Languages are those whose words have stems in queries.
	Languages words.Languages
	Times     Times
	Log       *slog.Logger
}

// Client keeps a stream to one slave open. Make it with NewClient; Close ends it.
type Client struct {
	cfg  Config
	open Opener
	now  atomic.Pointer[session] // nil if no stream is up
	end  context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	why     error                 // the error with which asks are refused while no stream is up; nil if they wait for the next one; under mu
	waiting map[*waiting]struct{} // asks for the next stream; under mu
	pause   chan struct{}         // closed by Reconnect to end a pause; nil if there is none; under mu
}

// NewClient returns a client, that opens its stream in the background.
func NewClient(cfg Config, open Opener) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{cfg: cfg, open: open, end: cancel, waiting: make(map[*waiting]struct{})}
	c.all.Go(func() { c.run(ctx) })
	return c
}

// Up reports whether a stream is up.
func (c *Client) Up() bool { return c.now.Load() != nil }

// Done receives the outcome of an ask: the answer, or an error of search.Searcher.
// fault.Unavailable also means that there is no stream, or that it broke. Done must not block,
// since all other replies of the stream wait for it.
type Done func(*search.Answer, error)

// Pending is an ask under way.
type Pending interface {
	// GiveUp says that the reply is no longer awaited, and why. After context.Canceled, the slave
	// is sent a cancel; it knows the deadline itself. Done may still be called.
	GiveUp(why error)
}

// Ask sends an ask, sets its id, and does not wait for the reply, which `done` receives. While the
// first stream is being opened, or the next one after a stream broke, the ask waits for it. After
// an error, nothing was sent and `done` is not called. Errors: fault.Unavailable if there is no
// stream; fault.Overloaded if as many asks are under way as the slave accepts; fault.Conflict if
// the slave is not the one that is meant; fault.Version if its program is too different;
// fault.Invalid.
func (c *Client) Ask(a *wire.Ask, done Done) (Pending, error) {
	if s := c.now.Load(); s != nil {
		if asked, err := s.ask(a, done); err != errDown {
			return asked, err
		}
	}
	return c.wait(a, done)
}

// Reconnect ends the pause that follows a failure to open a stream, if there is one. Later asks
// wait for the next attempt. If the pause is over already, they wait for the attempt that follows
// it.
func (c *Client) Reconnect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pause != nil {
		close(c.pause)
		c.pause, c.why = nil, nil
	}
}

// Close ends the stream; asks under way fail with fault.Unavailable.
func (c *Client) Close() {
	c.end()
	c.all.Wait()
}

// run opens streams until ctx is done, and waits for their end.
func (c *Client) run(ctx context.Context) {
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer c.refuse(errDown, nil)
	for failures := 0; ; {
		began := time.Now()
		s, err := c.connect(ctx)
		if err == nil {
			sessions.Go(func() { <-s.ended; c.now.CompareAndSwap(s, nil); s.cancel() })
			c.cfg.Log.Debug("a stream to a slave is open", "shard", c.cfg.Name, "instance", s.slave.GetInstance())
			c.replace(s)
			if c.watch(ctx, s); time.Since(began) > c.cfg.Times.LongestPause {
				failures = 0
				continue
			}
			err = errDown
		}
		if failures++; failures == 1 {
			c.cfg.Log.Debug("no stream to a slave", "shard", c.cfg.Name, "err", err)
		}
		if !c.rest(ctx, failures, err) {
			return
		}
	}
}

// connect opens a stream.
func (c *Client) connect(ctx context.Context) (s *session, err error) {
	ctx, end := context.WithCancel(ctx)
	late := time.AfterFunc(c.cfg.Times.Open, end)
	pipe, err := c.open(ctx)
	if err == nil {
		s, err = begin(pipe, end, &pb.Hello{Version: version, Database: c.cfg.Database, Shard: uint64(c.cfg.Shard),
			Name: c.cfg.Name, Instance: c.cfg.Instance, Wanted: c.cfg.Wanted, Words: c.cfg.Languages.Version()})
	}
	if !late.Stop() && err == nil { // the time for opening has just passed
		<-s.ended
		err = fault.Newf(fault.Deadline, "stream: open", "the slave did not answer within %v", c.cfg.Times.Open)
	}
	if err != nil {
		end()
	}
	return s, err
}

// replace makes s the stream to which searches go. The previous stream ends when its asks have been
// answered, or after a while.
func (c *Client) replace(s *session) {
	old := c.now.Swap(s)
	if old != nil {
		old.leave()
		time.AfterFunc(longest+c.cfg.Times.Leave, old.cancel)
	}
	select {
	case <-s.ended: // it ended before it was put into use
		c.now.CompareAndSwap(s, nil)
	default:
	}
	c.send(s)
}

// watch returns when another stream must be opened in place of s. A stream that is merely old is
// used until the next one is up.
func (c *Client) watch(ctx context.Context, s *session) {
	t := c.cfg.Times
	life := time.NewTimer(t.Life - rand.N(t.Life/5))
	defer life.Stop()
	look := time.NewTicker(t.Stuck)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-s.goodbye:
			c.now.CompareAndSwap(s, nil)
			time.AfterFunc(longest+t.Leave, s.cancel)
			return
		case <-life.C:
			return
		case <-look.C:
			if s.stuck() {
				c.cfg.Log.Warn("a stream is given up: a search on it has had no reply", "shard", c.cfg.Name)
				s.cancel()
			}
		}
	}
}

// longest is the longest time that a search takes.
const longest = 5 * time.Second

// rest pauses after a number of failures in a row, and refuses asks meanwhile. It returns false if
// ctx is done.
func (c *Client) rest(ctx context.Context, failures int, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	over := make(chan struct{})
	c.refuse(downFor(err), over)
	d := min(c.cfg.Times.FirstPause<<min(failures-1, 16), c.cfg.Times.LongestPause)
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-over:
	}
	return ctx.Err() == nil
}
