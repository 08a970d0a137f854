package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/fault"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // path of its certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	a.cert = &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	certificate, key := a.sign(t, a.cert, name)
	a.file = filepath.Join(t.TempDir(), name+".pem")
	must(t, os.WriteFile(a.file, certificate, 0o600))
	block, _ := pem.Decode(certificate)
	cert, err := x509.ParseCertificate(block.Bytes)
	must(t, err)
	block, _ = pem.Decode(key)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(t, err)
	a.cert, a.key = cert, parsed.(*ecdsa.PrivateKey)
	return a
}

// sign makes a certificate and its key as PEM; an authority that has no key yet signs its own certificate.
func (a *authority) sign(t *testing.T, c *x509.Certificate, name string) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c.Subject, c.SerialNumber = pkix.Name{CommonName: name}, big.NewInt(time.Now().UnixNano())
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	signer := a.key
	if signer == nil {
		signer = own
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &own.PublicKey, signer)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(own)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// TestTLS connects to a server that accepts only TLS, whose certificate names one of its two addresses. One role can
// log in only with a client certificate.
func TestTLS(t *testing.T) {
	ctx := t.Context()
	ours, other := newAuthority(t, "ours"), newAuthority(t, "other")
	// Any address of 127/8 is this machine; the server of another test uses another one.
	named := fmt.Sprintf("127.%d.%d.1", os.Getpid()>>8&127+1, os.Getpid()&255)
	unnamed := strings.TrimSuffix(named, "1") + "2"
	srv, err := pgtest.New("listen_addresses="+named+","+unnamed, "ssl=on", "ssl_ca_file=ca.pem", "fsync=off")
	must(t, err)
	t.Cleanup(func() { must(t, srv.Remove()) })
	cert, key := ours.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.ParseIP(named)}}, "server")
	ca, err := os.ReadFile(ours.file)
	must(t, err)
	for name, content := range map[string][]byte{
		"server.crt": cert, "server.key": key, "ca.pem": ca,
		"pg_hba.conf": []byte("local all all trust\nhostssl all certified 127.0.0.0/8 cert\nhostssl all all 127.0.0.0/8 trust\n"),
	} {
		must(t, srv.File(name, content))
	}
	must(t, srv.Start())
	must(t, srv.Do(ctx, "postgres", "CREATE ROLE certified LOGIN SUPERUSER"))
	client := func(by *authority) string {
		dir := t.TempDir()
		cert, key := by.sign(t, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, "certified")
		must(t, os.WriteFile(filepath.Join(dir, "c.crt"), cert, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "c.key"), key, 0o600))
		return "&sslcert=" + filepath.Join(dir, "c.crt") + "&sslkey=" + filepath.Join(dir, "c.key")
	}
	full := "sslmode=verify-full&sslrootcert="
	for name, c := range map[string]struct {
		user, host, query string
		ok                bool
	}{
		"verified":                        {"postgres", named, full + ours.file, true},
		"the wrong CA":                    {"postgres", named, full + other.file, false},
		"the wrong host":                  {"postgres", unnamed, full + ours.file, false},
		"the wrong host, unchecked":       {"postgres", unnamed, "sslmode=verify-ca&sslrootcert=" + ours.file, true},
		"the wrong CA, host unchecked":    {"postgres", named, "sslmode=verify-ca&sslrootcert=" + other.file, false},
		"no TLS":                          {"postgres", named, "sslmode=disable", false},
		"a client's certificate":          {"certified", named, full + ours.file + client(ours), true},
		"a client's, by another CA":       {"certified", named, full + ours.file + client(other), false},
		"without the client's":            {"certified", named, full + ours.file, false},
		"a client's, of another role too": {"postgres", named, full + ours.file + client(ours), true},
	} {
		url := "postgres://" + c.user + "@" + c.host + "/postgres?" + c.query
		s, err := postgres.Open(ctx, url, postgres.Options{Create: true})
		if !c.ok {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		add(t, s, "C", "G", name)
		must(t, s.Close())
		conn, err := pgx.Connect(ctx, url)
		must(t, err)
		var encrypted bool
		must(t, conn.QueryRow(ctx, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted))
		must(t, conn.Close(ctx))
		if !encrypted {
			t.Errorf("%s: not encrypted", name)
		}
	}
}
