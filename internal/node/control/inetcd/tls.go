package inetcd

import (
	"crypto/tls"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"adshard/fault"
)

// TLS names the PEM files with which etcd is called. They are etcd's, so that its CA may be
// another one than the cluster's. The zero value: calls without TLS.
type TLS struct {
	// CA has the certificates of the CAs of etcd's servers.
	CA string `yaml:"ca"`
	// Cert and Key are the caller's, or empty if it shows none. They are read at each connection,
	// so that they can be replaced while the program runs.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// config returns how to call etcd; nil means without TLS. Errors:
// fault.Invalid.
func (t TLS) config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	c, err := transport.TLSInfo{TrustedCAFile: t.CA, CertFile: t.Cert, KeyFile: t.Key}.ClientConfig()
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "open etcd", "files of control_tls: %w", err)
	}
	c.MinVersion = tls.VersionTLS12
	return c, nil
}

// Check reads the files.
func (t TLS) Check() error {
	_, err := t.config()
	return err
}
