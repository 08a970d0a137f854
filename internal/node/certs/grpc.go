package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"google.golang.org/grpc/credentials"

	"adshard/internal/node/access"
)

// info is gRPC's information on a connection.
type info struct {
	credentials.CommonAuthInfo
	who access.Identity
}

// AuthType implements credentials.AuthInfo.
func (info) AuthType() string { return "adshard" }

// Caller implements access.Shown.
func (i info) Caller() access.Identity { return i.who }

func infoOf(who access.Identity) info {
	level := credentials.NoSecurity
	if who.Known() {
		level = credentials.PrivacyAndIntegrity
	}
	return info{credentials.CommonAuthInfo{SecurityLevel: level}, who}
}

// serverCreds are the credentials of a gRPC server.
type serverCreds struct{ side *side }

// ServerHandshake implements credentials.TransportCredentials.
func (s *serverCreds) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, who, err := s.side.accept(raw)
	if err != nil {
		_ = raw.Close()
		return nil, nil, err
	}
	return conn, infoOf(who), nil
}

var errOneSide = errors.New("certs: these credentials are for the other side of connections")

// ClientHandshake implements credentials.TransportCredentials.
func (*serverCreds) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errOneSide
}

// Info implements credentials.TransportCredentials.
func (*serverCreds) Info() credentials.ProtocolInfo { return protocol }

// Clone implements credentials.TransportCredentials.
func (s *serverCreds) Clone() credentials.TransportCredentials { return s }

// OverrideServerName implements credentials.TransportCredentials.
func (*serverCreds) OverrideServerName(string) error { return nil }

var protocol = credentials.ProtocolInfo{SecurityProtocol: "tls"}

// clientCreds are the credentials of connections to one process.
type clientCreds struct {
	*Credentials
	wanted func(access.Identity) error // returns an error for any server but the intended one
}

// ClientHandshake implements credentials.TransportCredentials.
func (c *clientCreds) ClientHandshake(ctx context.Context, _ string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	var who access.Identity
	conn := tls.Client(raw, c.clientConfig("h2", c.wanted, &who))
	err := shake(ctx, conn)
	if err == nil {
		return closeOnExpiry(conn, c.own, x509.ExtKeyUsageServerAuth, c.recheck, c.log), infoOf(who), nil
	}
	_ = raw.Close()
	if refused := (tls.RecordHeaderError{}); c.mode != Both || !errors.As(err, &refused) {
		return nil, nil, err
	}
	// The server has no TLS yet: some servers do not until all have been restarted with it.
	plain, err := new(net.Dialer).DialContext(ctx, raw.RemoteAddr().Network(), raw.RemoteAddr().String())
	if err != nil {
		return nil, nil, err
	}
	return plain, infoOf(access.Identity{}), nil
}

// clientConfig returns the configuration of a client. `wanted` returns an error for any server but
// the intended one. The server's identity is stored in `who`.
func (c *Credentials) clientConfig(protocol string, wanted func(access.Identity) error, who *access.Identity) *tls.Config {
	m := c.own.get()
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // host names are not checked: VerifyConnection checks the chain and the identity
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &m.pair, nil
		},
		VerifyConnection: func(cs tls.ConnectionState) (err error) {
			if *who, err = m.verify(cs.PeerCertificates, x509.ExtKeyUsageServerAuth, time.Now()); err != nil {
				return err
			}
			return wanted(*who)
		},
	}
}

// ServerHandshake implements credentials.TransportCredentials.
func (*clientCreds) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errOneSide
}

// Info implements credentials.TransportCredentials.
func (*clientCreds) Info() credentials.ProtocolInfo { return protocol }

// Clone implements credentials.TransportCredentials.
func (c *clientCreds) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials.
func (*clientCreds) OverrideServerName(string) error { return nil }
