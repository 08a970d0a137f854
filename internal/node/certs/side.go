package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/conns"
)

// clients says whether the clients of a port show a certificate.
type clients = tls.ClientAuthType

const (
	needed = tls.RequireAnyClientCert // side checks the certificate itself
	asked  = tls.RequestClientCert
	none   = tls.NoClientCert
)

// side is the server's side of the connections to a port.
type side struct {
	own      *watched[material]
	mode     string // Both or Required
	clients  clients
	protocol string // the name that ALPN uses
	recheck  time.Duration
	counts   *counts
	lately   *lately // nil: connections that fail are not remembered
	log      *slog.Logger
}

// counts holds the number of connections opened on all ports, and of calls refused.
type counts struct{ secure, plain, failed, refused atomic.Uint64 }

const (
	// handshakeRecord is the first byte of a TLS connection.
	handshakeRecord = 0x16
	// handshakeTime bounds a handshake.
	handshakeTime = 5 * time.Second
)

var errPlain = errors.New("a plain connection to a port that takes only TLS (tls.mode: required)")

// accept reads the first byte of a connection and, if it begins TLS, does the handshake. The caller
// closes raw after an error. accept may wait for the byte until raw's deadline.
func (s *side) accept(raw net.Conn) (net.Conn, access.Identity, error) {
	greeted := conns.Greeting(raw)
	first := make([]byte, 1)
	if _, err := io.ReadFull(raw, first); err != nil {
		return nil, access.Identity{}, err
	}
	conn := &prefixed{Conn: raw, rest: first}
	if first[0] != handshakeRecord {
		if s.mode == Required {
			s.failed(raw, errPlain)
			return nil, access.Identity{}, errPlain
		}
		s.counts.plain.Add(1)
		greeted()
		return conn, access.Identity{}, nil
	}
	var who access.Identity
	m := s.own.get()
	c := tls.Server(conn, &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.pair}, ClientAuth: s.clients, NextProtos: []string{s.protocol},
		SessionTicketsDisabled: true, // so that each connection has to show its certificate
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if len(cs.PeerCertificates) > 0 {
				who, err = m.verify(cs.PeerCertificates, x509.ExtKeyUsageClientAuth, time.Now())
			}
			return err
		},
	})
	if err := shake(context.Background(), c); err != nil {
		s.failed(raw, err)
		return nil, access.Identity{}, err
	}
	s.counts.secure.Add(1)
	greeted()
	return closeOnExpiry(c, s.own, x509.ExtKeyUsageClientAuth, s.recheck, s.log), who, nil
}

// failed records a connection that failed.
func (s *side) failed(raw net.Conn, err error) {
	s.counts.failed.Add(1)
	if s.lately != nil {
		s.lately.note("", raw.RemoteAddr().String(), err)
	}
}

// shake does the handshake within handshakeTime.
func shake(ctx context.Context, c *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	return c.HandshakeContext(ctx)
}

// prefixed is a connection whose first bytes have been read already; Read returns them again.
type prefixed struct {
	net.Conn
	rest []byte
}

// Read implements net.Conn.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.rest) > 0 {
		n := copy(b, p.rest)
		p.rest = p.rest[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}

// recheckEvery is the longest time between two checks of whether the other side's certificate is
// still valid.
const recheckEvery = time.Hour

// expiringConn is a TLS connection that is closed when the peer's certificate is no longer valid.
type expiringConn struct {
	*tls.Conn
	own     *watched[material]
	usage   x509.ExtKeyUsage
	recheck time.Duration
	log     *slog.Logger

	mu     sync.Mutex
	timer  *time.Timer // under mu
	closed bool        // under mu
}

// closeOnExpiry returns a connection that is closed when the peer's certificate, if it has one,
// expires.
func closeOnExpiry(c *tls.Conn, own *watched[material], usage x509.ExtKeyUsage, recheck time.Duration, log *slog.Logger) net.Conn {
	chain := c.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return c
	}
	k := &expiringConn{Conn: c, own: own, usage: usage, recheck: recheck, log: log}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = time.AfterFunc(k.nextCheck(chain[0], time.Now()), k.check)
	return k
}

// nextCheck returns the time until the next check of a connection.
func (k *expiringConn) nextCheck(leaf *x509.Certificate, now time.Time) time.Duration {
	return min(k.recheck, max(leaf.NotAfter.Sub(now), 0)+time.Millisecond)
}

// check closes the connection if the certificate is no longer valid.
func (k *expiringConn) check() {
	chain, now := k.ConnectionState().PeerCertificates, time.Now()
	_, err := k.own.get().verify(chain, k.usage, now)
	if err != nil {
		k.log.Info("a connection is closed, since the certificate of the other side is not valid any more", "peer", k.RemoteAddr().String(), "err", err)
		_ = k.Close()
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.timer.Reset(k.nextCheck(chain[0], now))
	}
}

// Close implements net.Conn.
func (k *expiringConn) Close() error {
	k.mu.Lock()
	k.closed = true
	k.timer.Stop()
	k.mu.Unlock()
	return k.Conn.Close()
}
