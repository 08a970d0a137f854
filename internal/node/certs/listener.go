package certs

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"adshard/internal/node/access"
)

// Admin returns a listener for the admin port that takes its connections from l. The first byte of
// each decides whether it uses TLS. Clients may have certificates.
func (c *Credentials) Admin(l net.Listener) net.Listener {
	if c == nil || c.own == nil {
		return l
	}
	return &listener{l, &side{own: c.own, mode: c.mode, clients: asked, counts: &c.counts, protocol: "http/1.1", recheck: c.recheck, log: c.log}}
}

// listener is the listener of an HTTP port.
type listener struct {
	net.Listener
	side *side
}

// Accept implements net.Listener. It does not wait for the first byte.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lazy{Conn: c, side: l.side}, nil
}

// lazy is a connection that detects TLS by the first byte read. It takes its deadlines from the
// connection below.
type lazy struct {
	net.Conn
	side *side
	once sync.Once
	now  atomic.Pointer[greeted] // nil until something has been read
}

// greeted is a connection that is ready for use, or the error that it ended with.
type greeted struct {
	conn net.Conn
	who  access.Identity
	err  error
}

// useTLS is the answer to a plain request where TLS is required.
const useTLS = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"this port takes only TLS: write https:// before its address\n"

// greet does the part of the handshake that Accept has left to the first read.
func (l *lazy) greet() *greeted {
	l.once.Do(func() {
		var g greeted
		g.conn, g.who, g.err = l.side.accept(l.Conn)
		if errors.Is(g.err, errPlain) {
			_, _ = l.Conn.Read(make([]byte, 16<<10)) // closing with unread bytes could discard the answer
			_, _ = l.Conn.Write([]byte(useTLS))
		}
		l.now.Store(&g)
	})
	return l.now.Load()
}

// Read implements net.Conn.
func (l *lazy) Read(b []byte) (int, error) {
	g := l.greet()
	if g.err != nil {
		return 0, g.err
	}
	return g.conn.Read(b)
}

// Write implements net.Conn. An HTTP server writes only after it has read.
func (l *lazy) Write(b []byte) (int, error) {
	g := l.now.Load()
	if g == nil {
		return 0, net.ErrClosed
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.conn.Write(b)
}

// Close implements net.Conn.
func (l *lazy) Close() error {
	if g := l.now.Load(); g != nil && g.err == nil {
		return g.conn.Close()
	}
	return l.Conn.Close()
}

// Encrypted reports whether the connection has TLS.
func (l *lazy) Encrypted() bool {
	g := l.now.Load()
	if g == nil {
		return false
	}
	_, ok := g.conn.(*tls.Conn)
	return ok
}

// Caller implements access.Shown.
func (l *lazy) Caller() access.Identity {
	if g := l.now.Load(); g != nil {
		return g.who
	}
	return access.Identity{}
}
