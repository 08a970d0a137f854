// Package conns bounds the connections that a process accepts, so that clients
// that connect and stay silent leave room for others.
//
// A Pool has room for a number of connections, of one or several listeners. Every connection is accepted;
// if there is no room for it, the connection that has been silent the longest is closed. Connections that
// have never sent anything get at most a quarter of the room. Beyond that, the oldest of them is closed
// first, so that they do not displace clients that pause between requests. A connection that is still in
// its handshake has sent nothing yet (Greeting).
//
// Goals: a new connection never waits for idle ones; no timer, no goroutine.
// Non-goals: fairness between clients, limits on requests.
package conns

import (
	"errors"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Pool bounds connections. Make it with New. It is safe for concurrent use.
type Pool struct {
	most    int
	start   time.Time
	evicted atomic.Uint64

	mu   sync.Mutex
	open map[*conn]struct{} // under mu
}

// New returns a pool with room for `most` connections, at least one.
func New(most int) *Pool {
	return &Pool{most: max(1, most), start: time.Now(), open: make(map[*conn]struct{})}
}

// Most returns how many connections there is room for.
func (p *Pool) Most() int { return p.most }

// Open returns how many connections are open.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// Evicted returns how many connections were closed to make room.
func (p *Pool) Evicted() uint64 { return p.evicted.Load() }

// Listener returns a listener that takes its connections from l and counts them in the pool until they are
// closed.
func (p *Pool) Listener(l net.Listener) net.Listener { return &listener{l, p} }

type listener struct {
	net.Listener
	pool *Pool
}

// Accept implements net.Listener. It also makes room if the process may open no more files: servers try
// again after a temporary error.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.pool.mu.Lock()
			idlest := l.pool.takeIdlest()
			l.pool.mu.Unlock()
			l.pool.evict(idlest)
		}
		return nil, err
	}
	return l.pool.add(c), nil
}

// add adds a new connection to the pool, and makes room for it.
func (p *Pool) add(c net.Conn) net.Conn {
	own := &conn{Conn: c, pool: p}
	own.last.Store(math.MinInt64 + int64(time.Since(p.start)))
	var idlest *conn
	p.mu.Lock()
	if len(p.open) >= p.most {
		idlest = p.takeIdlest()
	}
	p.open[own] = struct{}{}
	p.mu.Unlock()
	p.evict(idlest)
	return own
}

// takeIdlest removes the connection that is to make room from the pool and returns it, or nil if there is
// none. The caller holds mu.
func (p *Pool) takeIdlest() *conn {
	var idlest, mute *conn // mute is the oldest that has never sent anything
	mutes := 0
	for c := range p.open {
		to := &idlest
		if c.last.Load() < 0 {
			to = &mute
			mutes++
		}
		if *to == nil || c.last.Load() < (*to).last.Load() {
			*to = c
		}
	}
	if idlest == nil || mutes >= max(1, p.most/4) {
		idlest = mute
	}
	delete(p.open, idlest)
	return idlest
}

// evict closes a connection that was removed from the pool. Its server notices, and closes it again.
func (p *Pool) evict(c *conn) {
	if c != nil {
		p.evicted.Add(1)
		_ = c.Conn.Close()
	}
}

// conn remembers when something was last sent over it.
type conn struct {
	net.Conn
	pool *Pool
	last atomic.Int64 // nanoseconds since the pool's start; counted from MinInt64 before the first byte

	greeting atomic.Bool
}

// Greeting begins a handshake over a connection. Until `done` is called, the pool treats the client as one
// that has sent nothing, so that a client that does not finish its handshake displaces no other. Greeting
// does nothing for a connection outside a pool.
func Greeting(c net.Conn) (done func()) {
	own, ok := c.(*conn)
	if !ok {
		return func() {}
	}
	own.greeting.Store(true)
	return func() {
		own.greeting.Store(false)
		own.touch()
	}
}

func (c *conn) touch() { c.last.Store(int64(time.Since(c.pool.start))) }

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.greeting.Load() {
		c.touch()
	}
	return n, err
}

// Write implements net.Conn. The time of a write is its start, since the peer may react on another
// connection before Write returns.
func (c *conn) Write(b []byte) (int, error) {
	if c.last.Load() >= 0 {
		c.touch()
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.pool.mu.Lock()
	delete(c.pool.open, c)
	c.pool.mu.Unlock()
	return c.Conn.Close()
}
