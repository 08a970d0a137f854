package certs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
)

// TestAFailedRotationLosesNothing: where one of the two files cannot be written, both are as before.
// The key of a CA that signed all certificates could not be made again.
func TestAFailedRotationLosesNothing(t *testing.T) {
	before, err := certs.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	after, err := certs.NextAuthority(before, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, obstacle := range []string{"ca.crt.new", "ca.key.new"} {
		dir := t.TempDir()
		files := certs.AuthorityFiles(dir)
		if err := files.Create(before); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, obstacle, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := files.Replace(after); err == nil {
			t.Fatalf("%s: replaced", obstacle)
		}
		now, err := files.Read()
		if err != nil || string(now.Key) != string(before.Key) || string(now.Cert) != string(before.Cert) {
			t.Errorf("%s: the files are not as before, %v", obstacle, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 3 {
			t.Errorf("%s: %v is left, %v", obstacle, list, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, obstacle)); err != nil {
			t.Fatal(err)
		}
		if err := files.Replace(after); err != nil {
			t.Fatal(err)
		}
		if now, err := files.Read(); err != nil || string(now.Key) != string(after.Key) || string(now.Cert) != string(after.Cert) {
			t.Errorf("%s: not replaced afterwards, %v", obstacle, err)
		}
	}
}

// TestAnExpiredCAIssuesNothing: nobody would take it.
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
