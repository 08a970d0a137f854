package certs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
)

// Files are those of a certificate and its key.
type Files struct{ Cert, Key string }

// FilesOf returns the files of a role and name in a directory.
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

// Create writes files that are not there yet, readable by their owner alone. Errors: fs.ErrExist
// if one is there, and then none is written.
func (f Files) Create(p Pair) error {
	if err := os.MkdirAll(filepath.Dir(f.Key), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(f.Cert); err == nil {
		return &os.PathError{Op: "create", Path: f.Cert, Err: os.ErrExist}
	}
	if err := create(f.Key, p.Key); err != nil {
		return err
	}
	return create(f.Cert, p.Cert)
}

// create writes a file that is not there yet.
func create(name string, text []byte) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return errors.Join(err, out.Sync(), out.Close())
}

// Replace writes both files in place of those before, each of them at once, when both are on disk under
// another name; if they cannot be written, those before stay. A program that reads them in between finds a
// key of another certificate, and reads them again.
func (f Files) Replace(p Pair) error {
	fresh := Files{Cert: f.Cert + ".new", Key: f.Key + ".new"}
	if err := renew(fresh.Key, p.Key); err != nil {
		return err
	}
	if err := renew(fresh.Cert, p.Cert); err != nil {
		return errors.Join(err, os.Remove(fresh.Key))
	}
	if err := os.Rename(fresh.Key, f.Key); err != nil {
		return err
	}
	if err := os.Rename(fresh.Cert, f.Cert); err != nil {
		return fmt.Errorf("%w: %s belongs to the key in %s: move it there", err, fresh.Cert, f.Key)
	}
	return nil
}

// renew is create in place of what a command that was killed has left.
func renew(name string, text []byte) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return create(name, text)
}

// Hosts returns the names and addresses in a certificate.
func Hosts(p Pair) (hosts []string) {
	c := firstOf(p)
	for _, ip := range c.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return append(hosts, c.DNSNames...)
}

// Lifetime returns for how long a certificate was made, to the minute; 0: p has none.
func Lifetime(p Pair) time.Duration {
	c := firstOf(p)
	return max(0, c.NotAfter.Sub(c.NotBefore)-early).Round(time.Minute)
}

// firstOf returns the first certificate of p; an empty one: it has none.
func firstOf(p Pair) *x509.Certificate {
	if block, _ := pem.Decode(p.Cert); block != nil {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c
		}
	}
	return new(x509.Certificate)
}

// NextAuthority makes a new CA of the same cluster, whose certificate is followed by those of old
// that are still valid.
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
