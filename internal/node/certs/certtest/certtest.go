// Package certtest makes certificates of a cluster for tests.
package certtest

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
)

// Cluster is a cluster's CA with a directory for files.
type Cluster struct {
	t         testing.TB
	dir       string
	authority *certs.Authority
	ca        string // a file
}

// New returns a new CA for the cluster "test".
func New(t testing.TB) *Cluster { return Named(t, "test") }

// Named returns a new CA for a cluster.
func Named(t testing.TB, cluster string) *Cluster {
	t.Helper()
	pair, err := certs.NewAuthority(cluster, 90*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t: t, dir: t.TempDir()}
	if c.authority, err = certs.OpenAuthority(pair); err != nil {
		t.Fatal(err)
	}
	c.ca = c.Write("ca.crt", pair.Cert)
	return c
}

// CA returns the path of the file with the CA's certificate.
func (c *Cluster) CA() string { return c.ca }

// Write writes a file that only its owner can read, and returns its path.
func (c *Cluster) Write(name string, text []byte) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// Pair makes a certificate for loopback that expires after `life`, which may be negative.
func (c *Cluster) Pair(role access.Role, name string, life time.Duration) certs.Pair {
	c.t.Helper()
	pair, err := c.authority.Issue(role, name, []string{"localhost", "127.0.0.1"}, life)
	if err != nil {
		c.t.Fatal(err)
	}
	return pair
}

// Settings makes a certificate and returns settings that name its files.
func (c *Cluster) Settings(mode string, role access.Role, name string) certs.Settings {
	c.t.Helper()
	pair := c.Pair(role, name, 30*24*time.Hour) // so long that no log says that it expires soon
	file := string(role) + "." + name
	return certs.Settings{TLS: certs.TLS{Mode: mode, CA: c.ca, Cert: c.Write(file+".crt", pair.Cert), Key: c.Write(file+".key", pair.Key)}}
}

// Open returns the credentials of a new certificate.
func (c *Cluster) Open(mode string, role access.Role, name string) *certs.Credentials {
	c.t.Helper()
	s := c.Settings(mode, role, name)
	own, err := s.Open(role, name, slog.New(slog.DiscardHandler))
	if err != nil {
		c.t.Fatal(err)
	}
	return own
}
