package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
)

// TestCertificates: programs accept the files that `cert` makes, only their owner can read them, and no existing file
// is overwritten.
func TestCertificates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	adshard := func(want int, args ...string) string {
		t.Helper()
		status, out, errOut := run(t, "adshard", append(append([]string{"cert"}, args...), "--dir", dir)...)
		if status != want {
			t.Fatalf("%v: %d %s %s", args, status, out, errOut)
		}
		return out + errOut
	}
	adshard(exitFailed, "issue", "slave", "slave-0") // there is no CA
	adshard(exitUsage, "ca")                         // and no name of a cluster
	adshard(exitDone, "ca", "--cluster", "prod")
	adshard(exitUsage, "ca", "--cluster", "prod")
	adshard(exitDone, "issue", "slave", "slave-0", "--host", "10.0.0.8,host-1.example")
	for _, wrong := range [][]string{{"slave", "slave-0"}, {"root", "x"}, {"slave", "../x"}, {"slave"}, {"slave", "x", "--lifetime", "1s"}} {
		if out := adshard(exitUsage, append([]string{"issue"}, wrong...)...); strings.Contains(out, "panic") {
			t.Error(out)
		}
	}
	files := certs.FilesOf(dir, access.Slave, "slave-0")
	open := func() {
		t.Helper()
		s := certs.Settings{TLS: certs.TLS{Mode: certs.Required, Cert: files.Cert, Key: files.Key, CA: filepath.Join(dir, "ca.crt")}}
		if _, err := s.Open(access.Slave, "slave-0", slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	open()
	before, err := files.Read()
	if err != nil {
		t.Fatal(err)
	}
	adshard(exitDone, "rotate", "slave", "slave-0")
	after, err := files.Read()
	if err != nil || string(before.Cert) == string(after.Cert) || string(before.Key) == string(after.Key) {
		t.Errorf("rotated to the same: %v", err)
	}
	if hosts := strings.Join(certs.Hosts(after), " "); hosts != "10.0.0.8 host-1.example" {
		t.Errorf("hosts %s", hosts)
	}
	open()
	adshard(exitDone, "rotate", "ca")
	open() // the previous CA is still in the bundle
	adshard(exitDone, "rotate", "slave", "slave-0")
	open()
	adshard(exitFailed, "rotate", "slave", "slave-1") // never issued
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 4 {
		t.Errorf("%d files, %v", len(list), err)
	}
	for _, f := range list {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), info.Mode(), err)
		}
	}
}

// TestCertificatesThatCannotWorkAreNotMade: `cert` refuses to make a certificate that programs would refuse, and
// leaves no file behind.
func TestCertificatesThatCannotWorkAreNotMade(t *testing.T) {
	dir := t.TempDir()
	adshard := func(want int, says string, args ...string) {
		t.Helper()
		status, out, errOut := run(t, "adshard", append(append([]string{"cert"}, args...), "--dir", dir)...)
		if status != want || !strings.Contains(out+errOut, says) {
			t.Errorf("%v: %d %s %s", args, status, out, errOut)
		}
	}
	for _, cluster := range []string{"a..b", "a.", "..", "a b"} {
		adshard(exitUsage, "", "ca", "--cluster", cluster)
	}
	adshard(exitDone, "", "ca", "--cluster", "prod", "--lifetime", "24h")
	for _, host := range []string{"http://x:80", "x:80", "a b", "a..b", "-,"} {
		adshard(exitUsage, "host", "issue", "slave", "slave-0", "--host", host)
	}
	adshard(exitUsage, "cannot be a name", "issue", "slave", "a b")
	adshard(exitFailed, "`adshard cert issue slave slave-0`", "rotate", "slave", "slave-0")
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("files %v, %v", list, err)
	}
}

// TestRotationKeepsTheLifetime: rotation keeps the lifetime unless one is given.
func TestRotationKeepsTheLifetime(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		life time.Duration
	}{
		{"ca --cluster prod", certs.AuthorityLife},
		{"issue slave s --lifetime 168h", 168 * time.Hour},
		{"rotate slave s", 168 * time.Hour},
		{"rotate slave s --lifetime 48h", 48 * time.Hour},
		{"rotate slave s", 48 * time.Hour},
	} {
		if status, _, errOut := run(t, "adshard", append([]string{"cert", "--dir", dir}, strings.Fields(c.args)...)...); status != exitDone {
			t.Fatal(c.args, errOut)
		}
		files := certs.FilesOf(dir, access.Slave, "s")
		if strings.HasPrefix(c.args, "ca") {
			files = certs.AuthorityFiles(dir)
		}
		if pair, err := files.Read(); err != nil || certs.Lifetime(pair) != c.life {
			t.Errorf("%s: %v, %v", c.args, certs.Lifetime(pair), err)
		}
	}
}
