package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
)

// ForClient returns the TLS configuration with which a program outside the cluster, such as the
// command line, calls a process of one of these roles. `ca` is a file with the cluster's CA; if it is
// empty, the server is verified by the system's CAs and by its host name. `cert` and `key` are the
// caller's files, or empty. Errors: fault.Invalid.
func ForClient(ca, cert, key string, roles ...access.Role) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if cert != "" || key != "" {
		m, err := readPair(cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{m.pair}
	}
	if ca == "" {
		return c, nil
	}
	text, err := readFile(ca, false)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fault.Newf(fault.Invalid, op, "%s has no certificate", ca)
	}
	c.InsecureSkipVerify = true // VerifyConnection checks the chain and the identity
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		leaf := cs.PeerCertificates[0]
		if err := chainOf(cs.PeerCertificates, roots, x509.ExtKeyUsageServerAuth, time.Now()); err != nil {
			return err
		}
		if len(leaf.URIs) == 0 { // the certificate of a port for queries
			return leaf.VerifyHostname(cs.ServerName)
		}
		who, err := identityOf(leaf)
		if err == nil && !slices.Contains(roles, who.Role) {
			err = fault.Newf(fault.Forbidden, op, "there is the %s, not one of the roles %v", who, roles)
		}
		return err
	}
	return c, nil
}
