package inetcd

import (
	"crypto/tls"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"adshard/fault"
)

// TLS names the PEM files for calls to etcd. The CA may differ from the cluster's own. The zero
// value means calls without TLS.
type TLS struct {
	// CA has the certificates of the CAs that sign the certificates of etcd's servers.
	CA string `yaml:"ca"`
	// Cert and Key are the caller's files, or empty if it shows no certificate. They are read for
	// each connection, so that they can be replaced while the program runs.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// config returns the TLS configuration for calls to etcd, or nil for calls without TLS. Errors:
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

// Check returns an error if the files cannot be used.
func (t TLS) Check() error {
	_, err := t.config()
	return err
}
