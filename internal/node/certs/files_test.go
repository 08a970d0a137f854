package certs_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/outfile/outfiletest"
)

// TestAFailedRotationLosesNothing: if one of the two files cannot be written, both stay as before. The key of a CA that signed all
// certificates could not be recreated.
func TestAFailedRotationLosesNothing(t *testing.T) {
	before, err := certs.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	after, err := certs.NextAuthority(before, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, obstacle := range []string{"ca.crt", "ca.key"} {
		dir := t.TempDir()
		files := certs.AuthorityFiles(dir)
		if err := files.Create(before); err != nil {
			t.Fatal(err)
		}
		was := outfiletest.State(t, dir)
		saved, err := os.ReadFile(filepath.Join(dir, obstacle))
		if err != nil {
			t.Fatal(err)
		}
		write := func(text []byte) {
			if err := os.WriteFile(filepath.Join(dir, obstacle), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write([]byte("nothing that this program wrote"))
		if err := files.Replace(after); err == nil {
			t.Fatalf("%s: replaced", obstacle)
		}
		write(saved)
		if now := outfiletest.State(t, dir); now != was {
			t.Errorf("%s: the files are not as before: %s", obstacle, now)
		}
		if err := files.Replace(after); err != nil {
			t.Fatal(err)
		}
		if now, err := files.Read(); err != nil || string(now.Key) != string(after.Key) || string(now.Cert) != string(after.Cert) {
			t.Errorf("%s: not replaced afterwards, %v", obstacle, err)
		}
	}
}

// TestAnExpiredCAIssuesNothing: an expired CA issues no certificates, because no peer would accept them.
func TestAnExpiredCAIssuesNothing(t *testing.T) {
	pair, err := certs.NewAuthority("test", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := certs.OpenAuthority(pair)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(ca.Until()))
	if _, err := ca.Issue(access.Slave, "slave-0", nil, time.Hour); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := certs.NextAuthority(pair, time.Hour, time.Now()); err != nil {
		t.Errorf("no next one: %v", err)
	}
}

// TestARotationThatEndsHalfway: if the new CA's certificate was written but not its key, the old CA still issues certificates that
// the file's CAs vouch for, and can be rotated again. A key that matches no certificate in the file is refused.
func TestARotationThatEndsHalfway(t *testing.T) {
	before, err := certs.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	after, err := certs.NextAuthority(before, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	half := certs.Pair{Cert: after.Cert, Key: before.Key}
	ca, err := certs.OpenAuthority(half)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := ca.Issue(access.Slave, "slave-0", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(after.Cert)
	block, _ := pem.Decode(issued.Cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		t.Error(err)
	}
	if _, err := certs.NextAuthority(half, time.Hour, time.Now()); err != nil {
		t.Errorf("it is not rotated once more: %v", err)
	}
	if _, err := certs.OpenAuthority(certs.Pair{Cert: before.Cert, Key: after.Key}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a key without its certificate: %v", err)
	}
}
