package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
)

const op = "certs"

// material is the content of a process's files.
type material struct {
	pair  tls.Certificate
	leaf  *x509.Certificate
	roots *x509.CertPool  // nil for a query port
	self  access.Identity // empty for a query port
}

// readPair reads a certificate and its key.
func readPair(cert, key string) (*material, error) {
	certText, err := readFile(cert, false)
	if err != nil {
		return nil, fmt.Errorf("cert: %w", err)
	}
	keyText, err := readFile(key, true)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "", "cert: %s with key %s: %w; if they do not belong together, run `adshard cert rotate` again, or copy both from one place", cert, key, err)
	}
	return &material{pair: pair, leaf: pair.Leaf}, nil
}

// readOwn reads the files of a process and checks that its peers will accept them.
func readOwn(files TLS) (*material, error) {
	m, err := readPair(files.Cert, files.Key)
	if err != nil {
		return nil, err
	}
	ca, err := readFile(files.CA, false)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	m.roots = x509.NewCertPool()
	if !m.roots.AppendCertsFromPEM(ca) {
		return nil, fault.Newf(fault.Invalid, "", "ca: %s has no certificate", files.CA)
	}
	if m.self, err = identityOf(m.leaf); err != nil {
		return nil, fault.Newf(fault.Invalid, "", "cert: %s: %w", files.Cert, err)
	}
	chain := []*x509.Certificate{m.leaf}
	for _, der := range m.pair.Certificate[1:] {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fault.Newf(fault.Invalid, "", "cert: %s: %w", files.Cert, err)
		}
		chain = append(chain, c)
	}
	if _, err := m.verify(chain, x509.ExtKeyUsageClientAuth, time.Now()); err != nil {
		return nil, fault.Newf(fault.Invalid, "", "cert: %s with ca %s: %w", files.Cert, files.CA, err)
	}
	return m, nil
}

// identityOf returns the identity in a certificate.
func identityOf(c *x509.Certificate) (access.Identity, error) {
	if len(c.URIs) != 1 {
		return access.Identity{}, fault.Newf(fault.Forbidden, op, "the certificate names %d identities, not one (%s)", len(c.URIs), c.Subject)
	}
	return access.ParseURI(c.URIs[0])
}

// verify returns the identity in a chain's certificate. Errors: fault.Forbidden if the certificate
// is not valid at the time `now` or not of this cluster.
func (m *material) verify(chain []*x509.Certificate, usage x509.ExtKeyUsage, now time.Time) (access.Identity, error) {
	if err := chainOf(chain, m.roots, usage, now); err != nil {
		return access.Identity{}, err
	}
	who, err := identityOf(chain[0])
	if err != nil {
		return access.Identity{}, err
	}
	if who.Cluster != m.self.Cluster {
		return access.Identity{}, fault.Newf(fault.Forbidden, op, "the %s is of the cluster %s, this is %s", who, who.Cluster, m.self.Cluster)
	}
	return who, nil
}

// chainOf returns an error unless a chain is valid for these roots, this usage and this time.
// Errors: fault.Forbidden.
func chainOf(chain []*x509.Certificate, roots *x509.CertPool, usage x509.ExtKeyUsage, now time.Time) error {
	if len(chain) == 0 {
		return fault.Newf(fault.Forbidden, op, "there is no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	return fault.New(fault.Forbidden, op, err)
}
