package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
)

// MaxTimeout is the longest time that a request may ask for.
const MaxTimeout = 5 * time.Second

// Limits of a server, against clients that are slow or send too much.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 15 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	drainTimeout  = MaxTimeout + time.Second
)

// Serve answers the connections of ln with h until ctx is done, and then lets the requests under way finish. It
// closes ln, and returns nil after a clean end.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler: framed(h), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			stamped := c.(*stampedConn)
			if shown, ok := stamped.Conn.(access.Shown); ok {
				ctx = access.WithConn(ctx, shown)
			}
			return context.WithValue(ctx, connKey{}, stamped)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if s, ok := c.(*stampedConn); ok && state == http.StateIdle {
				s.first.Store(0)
				s.framing.next()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(stampedListener{ln}) }()
	select {
	case err := <-ended:
		return fault.New(fault.Unavailable, "http: serve", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := s.Shutdown(drain); err != nil {
		_ = s.Close() // requests that do not end are cut off
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fault.New(fault.Unavailable, "http: serve", err)
	}
	return nil
}

// OverTLS reports whether a request came over TLS: to this server or, judging by its headers, to a proxy in
// front of it.
func OverTLS(r *http.Request) bool {
	if c, ok := r.Context().Value(connKey{}).(*stampedConn); ok {
		if e, ok := c.Conn.(interface{ Encrypted() bool }); ok && e.Encrypted() {
			return true
		}
	}
	const scheme = "https://"
	return r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), scheme) || strings.HasPrefix(r.Header.Get("Referer"), scheme) ||
		strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

type connKey struct{}

// stampedListener accepts connections that record when a request began.
type stampedListener struct{ net.Listener }

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stampedConn{Conn: c}, nil
}

// stampedConn records the time of the first byte after it was idle, and counts the headers that say where
// bodies end.
type stampedConn struct {
	net.Conn
	first   atomic.Int64 // Unix nanoseconds, or 0 if no byte has arrived yet
	framing framing
}

func (c *stampedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.framing.scan(b[:n])
	if n > 0 && c.first.Load() == 0 {
		c.first.Store(time.Now().UnixNano())
	}
	return n, err
}

// BodyArrived reports whether the whole body of a request is known to have arrived. The server can then discard it unread without
// waiting for the client. The handler must not have read any of it.
func BodyArrived(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*stampedConn)
	return ok && r.ContentLength > 0 && r.ContentLength <= c.framing.body.Load()
}

// FirstByte returns when the request's first byte was read, or the present time if the server is not one of
// Serve.
func FirstByte(r *http.Request) time.Time {
	now := time.Now()
	c, ok := r.Context().Value(connKey{}).(*stampedConn)
	if !ok {
		return now
	}
	first := c.first.Load()
	if first == 0 { // it arrived together with the end of the previous request
		return now
	}
	// computed from the difference, so that the result keeps the monotonic clock
	return now.Add(-max(now.Sub(time.Unix(0, first)), 0))
}
