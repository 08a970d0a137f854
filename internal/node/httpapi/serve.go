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

// Limits of a server, against clients that are slow or send much.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 15 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	drainTimeout  = MaxTimeout + time.Second
)

// Serve answers the connections of ln with h until ctx is over, then lets the
// requests under way finish; it closes ln. A clean end returns nil.
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

// OverTLS reports whether a request came over TLS, to this server or, as its browser says, to a proxy in front.
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

// stampedListener gives connections that note when a request began.
type stampedListener struct{ net.Listener }

func (l stampedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stampedConn{Conn: c}, nil
}

// stampedConn notes the time of the first byte since it was idle, and where bodies end.
type stampedConn struct {
	net.Conn
	first   atomic.Int64 // Unix nanoseconds; 0: none yet
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

// FirstByte returns when the request's first byte was read, or now if the
// server is not that of Serve.
func FirstByte(r *http.Request) time.Time {
	now := time.Now()
	c, ok := r.Context().Value(connKey{}).(*stampedConn)
	if !ok {
		return now
	}
	first := c.first.Load()
	if first == 0 { // it came along with the last request's end
		return now
	}
	// By its distance, so that the monotonic clock goes on counting.
	return now.Add(-max(now.Sub(time.Unix(0, first)), 0))
}
