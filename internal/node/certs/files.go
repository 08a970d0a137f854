package certs

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/outfile"
)

// Files names the files of a certificate and its key.
type Files struct{ Cert, Key string }

// FilesOf returns the files in a directory for a role and a name.
func FilesOf(dir string, role access.Role, name string) Files {
	return filesOf(dir, string(role)+"."+name)
}

// AuthorityFiles returns the files of the CA in a directory.
func AuthorityFiles(dir string) Files { return filesOf(dir, "ca") }

func filesOf(dir, name string) Files {
	return Files{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
}

// Read reads both files. Errors: fault.Invalid.
func (f Files) Read() (Pair, error) {
	cert, err := readFile(f.Cert, false)
	if err != nil {
		return Pair{}, err
	}
	key, err := readFile(f.Key, true)
	return Pair{cert, key}, err
}

// Create writes new files that only their owner can read. Errors: fault.Conflict if one of them exists
// already; then neither is written.
func (f Files) Create(p Pair) error {
	if err := outfile.CheckDir(filepath.Dir(f.Key), false); err != nil {
		return err
	}
	if err := outfile.MakeDir(filepath.Dir(f.Key)); err != nil {
		return err
	}
	cert, key := f.outputs()
	cert.New, key.New = true, true
	if err := outfile.Check(nil, cert, key); err != nil {
		return err
	}
	if err := key.WriteBytes(p.Key); err != nil {
		return err
	}
	return cert.WriteBytes(p.Cert)
}

// outputs returns the two files as outputs. Each recognizes its file by the content.
func (f Files) outputs() (cert, key outfile.Output) {
	holds := func(block string) func(io.Reader) bool {
		return func(r io.Reader) bool {
			text, err := io.ReadAll(io.LimitReader(r, maxFile))
			b, _ := pem.Decode(text)
			return err == nil && b != nil && strings.HasSuffix(b.Type, block)
		}
	}
	return outfile.Output{Path: f.Cert, Kind: outfile.Kind{Name: "a certificate", Is: holds("CERTIFICATE")}},
		outfile.Output{Path: f.Key, Kind: outfile.Kind{Name: "a key", Is: holds("PRIVATE KEY")}}
}

// Replace writes both files under other names, then renames each over the old file; if they cannot be
// written, the old files stay. A program that reads them in between finds a key that does not belong to
// the certificate, and reads them again. The certificate is replaced first: the file of a new CA also
// has the old certificates, so that the old key still has its certificate if the key cannot be
// replaced.
func (f Files) Replace(p Pair) error {
	cert, key := f.outputs()
	newKey, err := key.Create(nil)
	if err != nil {
		return err
	}
	newCert, err := cert.Create(nil)
	if err != nil {
		return newKey.End(err)
	}
	_, err = newCert.Write(p.Cert)
	if err == nil {
		_, err = newKey.Write(p.Key)
	}
	if err = newCert.End(err); err != nil {
		return newKey.End(err)
	}
	if err := newKey.End(nil); err != nil {
		return fmt.Errorf("%w: %s is a new certificate without its key: run `adshard cert rotate` again", err, f.Cert)
	}
	return nil
}

// Hosts returns the host names and addresses in a certificate.
func Hosts(p Pair) (hosts []string) {
	c := firstOf(p)
	for _, ip := range c.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return append(hosts, c.DNSNames...)
}

// Lifetime returns how long a certificate was made to last, rounded to the minute, or 0 if p has no
// certificate.
func Lifetime(p Pair) time.Duration {
	c := firstOf(p)
	return max(0, c.NotAfter.Sub(c.NotBefore)-early).Round(time.Minute)
}

// firstOf returns the first certificate of p, or an empty one if p has none.
func firstOf(p Pair) *x509.Certificate {
	if block, _ := pem.Decode(p.Cert); block != nil {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c
		}
	}
	return new(x509.Certificate)
}

// NextAuthority makes a new CA of the same cluster. Its certificate is followed by the certificates in
// `old` that are still valid.
func NextAuthority(old Pair, life time.Duration, now time.Time) (Pair, error) {
	before, err := OpenAuthority(old)
	if err != nil {
		return Pair{}, err
	}
	next, err := NewAuthority(before.Cluster(), life)
	if err != nil {
		return Pair{}, err
	}
	for rest := old.Cert; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return next, nil
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return Pair{}, fault.New(fault.Invalid, op, fmt.Errorf("the CA's certificate: %w", err))
		}
		if now.Before(c.NotAfter) {
			next.Cert = append(next.Cert, pem.EncodeToMemory(block)...)
		}
	}
}
