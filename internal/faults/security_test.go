package faults

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/control/inetcd"
)

// security has the certificates by which the parts of a grid know each other: those of one CA, which another CA
// replaces when all are rotated.
type security struct {
	dir         string
	authorities [2]*certs.Authority
	texts       [2][]byte // certificates of the CAs
	signs       int       // the CA in use; it changes while a fault touches "certificates"

	client   *tls.Config // for the caller, an operator
	operator atomic.Pointer[tls.Certificate]
}

// long is the lifetime of certificates that outlive every schedule, even where clocks are an hour off.
const long = 24 * time.Hour

func newSecurity(t *testing.T) *security {
	t.Helper()
	s := &security{dir: t.TempDir()}
	err := s.found()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// found makes both CAs and the operator's certificate.
func (s *security) found() error {
	for i := range s.authorities {
		pair, err := certs.NewAuthority("faults", long)
		if err != nil {
			return err
		}
		if s.authorities[i], err = certs.OpenAuthority(pair); err != nil {
			return err
		}
		s.texts[i] = pair.Cert
	}
	everyone := filepath.Join(s.dir, "everyone.crt")
	if err := write(everyone, bytes.Join(s.texts[:], nil)); err != nil {
		return err
	}
	if err := s.trust(s.signs); err != nil {
		return err
	}
	if err := s.operate(); err != nil {
		return err
	}
	var err error
	if s.client, err = certs.ForClient(everyone, "", "", access.Processes()...); err != nil {
		return err
	}
	s.client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.operator.Load(), nil }
	return nil
}

// operate makes the operator's certificate.
func (s *security) operate() error {
	pair, err := s.authorities[s.signs].Issue(access.Operator, "operator", nil, long)
	if err != nil {
		return err
	}
	c, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err == nil {
		s.operator.Store(&c)
	}
	return err
}

// issue writes the certificate files of a part, or replaces them while it runs.
func (s *security) issue(role access.Role, name string, life time.Duration) (certs.TLS, error) {
	base := filepath.Join(s.dir, name)
	files := certs.TLS{Mode: certs.Required, Cert: base + ".crt", Key: base + ".key", CA: s.ca()}
	pair, err := s.authorities[s.signs].Issue(role, name, nil, life)
	if err != nil {
		return files, err
	}
	if err := write(files.Key, pair.Key); err != nil {
		return files, err
	}
	return files, write(files.Cert, pair.Cert)
}

// forEtcd writes the certificate files of etcd's members and of their callers, signed by a separate CA.
func (s *security) forEtcd(addresses []string) (members, callers inetcd.TLS, err error) {
	pair, err := certs.NewAuthority("etcd", long)
	if err != nil {
		return members, callers, err
	}
	ca, err := certs.OpenAuthority(pair)
	if err != nil {
		return members, callers, err
	}
	file := filepath.Join(s.dir, "etcd-ca.crt")
	err = write(file, pair.Cert)
	for _, one := range []struct {
		files *inetcd.TLS
		role  access.Role
		hosts []string
	}{{&members, access.Slave, addresses}, {&callers, access.Balancer, nil}} {
		base := filepath.Join(s.dir, "etcd-"+string(one.role))
		*one.files = inetcd.TLS{CA: file, Cert: base + ".crt", Key: base + ".key"}
		own, failed := ca.Issue(one.role, "etcd", one.hosts, long)
		err = errors.Join(err, failed, write(one.files.Cert, own.Cert), write(one.files.Key, own.Key))
	}
	return members, callers, err
}

func (s *security) ca() string { return filepath.Join(s.dir, "ca.crt") }

// trust makes all parts trust these CAs.
func (s *security) trust(list ...int) error {
	var text []byte
	for _, i := range list {
		text = append(text, s.texts[i]...)
	}
	return write(s.ca(), text)
}

// open returns new credentials of a role.
func (s *security) open(role access.Role, name string) (*certs.Credentials, error) {
	files, err := s.issue(role, name, long)
	if err != nil {
		return nil, err
	}
	settings := certs.Settings{TLS: files}
	return settings.Open(role, name, slog.New(slog.DiscardHandler))
}

// meet connects to an HTTP port, and returns an error if the certificate there is not trusted.
func (s *security) meet(address string) error {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, s.client)
	if err != nil {
		return err
	}
	return conn.Close()
}

// write replaces a file atomically.
func write(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
