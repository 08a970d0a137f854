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
	// Database, Shard and Name say which slave is meant; Database may be empty.
	Database string
	Shard    search.ShardID
	Name     string
	Wanted   uint64 // the slave's instance (pb.Replica); 0: any
	Instance uint64 // of this process
	Times    Times
	Log      *slog.Logger
}

// Client keeps a stream to one slave up. Make it with NewClient; Close ends it.
type Client struct {
	cfg  Config
	open Opener
	now  atomic.Pointer[session] // nil: none is up
	end  context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	why     error                 // asks are refused with it, where none is up; nil: they wait for the next; under mu
	waiting map[*waiting]struct{} // for the next stream; under mu
	pause   chan struct{}         // closed by Reconnect; nil: nothing to end, asks wait or c is closed; under mu
}

// NewClient returns a client, which opens its stream in the background.
func NewClient(cfg Config, open Opener) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{cfg: cfg, open: open, end: cancel, waiting: make(map[*waiting]struct{})}
	c.all.Go(func() { c.run(ctx) })
	return c
}

// Up reports whether there is a stream.
func (c *Client) Up() bool { return c.now.Load() != nil }

// Done receives the outcome of an ask: the answer, or an error of search.Searcher;
// fault.Unavailable: there is no stream, or it broke. It must not block: all other replies
// of the stream wait for it.
type Done func(*search.Answer, error)

// Pending is an ask under way.
type Pending interface {
	// GiveUp notes that the reply is no longer awaited, and why. After context.Canceled
	// the slave gets a cancel; the deadline it knows itself. Done may still be called.
	GiveUp(why error)
}

// Ask sends an ask, whose id it sets, without waiting for the reply, which done
// receives. While the first stream is being opened, or the next after one that broke, the
// ask waits for it. After an error nothing was sent and done is not called:
// fault.Unavailable, there is no stream; fault.Overloaded, as many asks are under way as
// the slave takes; fault.Conflict and fault.Version, the slave is not the one that is
// meant, or its program too different; fault.Invalid.
func (c *Client) Ask(a *wire.Ask, done Done) (Pending, error) {
	if s := c.now.Load(); s != nil {
		if asked, err := s.ask(a, done); err != errDown {
			return asked, err
		}
	}
	return c.wait(a, done)
}

// Reconnect ends the pause after a failure to open a stream, if there is one. Asks wait for
// the next attempt, or for the one that follows the pause already.
func (c *Client) Reconnect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pause != nil {
		close(c.pause)
		c.pause, c.why = nil, nil
	}
}

// Close ends the stream; what is under way fails with fault.Unavailable.
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
			Name: c.cfg.Name, Instance: c.cfg.Instance, Wanted: c.cfg.Wanted, Words: words.Version()})
	}
	if !late.Stop() && err == nil { // it ends at this moment
		<-s.ended
		err = fault.Newf(fault.Deadline, "stream: open", "the slave did not answer within %v", c.cfg.Times.Open)
	}
	if err != nil {
		end()
	}
	return s, err
}

// replace makes s the stream that searches go to; the one before ends when what is
// under way there is answered, or after a while.
func (c *Client) replace(s *session) {
	old := c.now.Swap(s)
	if old != nil {
		old.leave()
		time.AfterFunc(longest+c.cfg.Times.Leave, old.cancel)
	}
	select {
	case <-s.ended: // before it existed
		c.now.CompareAndSwap(s, nil)
	default:
	}
	c.send(s)
}

// watch returns when a stream is to be opened in place of s. One that is merely old is
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

// longest is the longest that a search takes.
const longest = 5 * time.Second

// rest pauses after so many failures in a row. It returns false if ctx is done. Until then
// asks are refused.
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
