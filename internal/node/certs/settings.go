package certs

import (
	"net"

	"adshard/internal/node/config"
)

// How a program uses TLS (TLS.Mode).
const (
	Off      = "off"      // only plain connections
	Both     = "both"     // accepts both, dials with TLS and falls back to plain
	Required = "required" // only TLS
)

// Settings are the settings in a program's configuration that say how it recognizes its peers.
type Settings struct {
	TLS TLS `yaml:"tls"`
	// Tokens is a file with a line "ROLE NAME TOKEN" for each token of the admin port, or
	// empty if there are none.
	Tokens string `yaml:"tokens"`
	// Insecure allows ports outside loopback, and calls to etcd on other machines, without TLS.
	Insecure bool `yaml:"insecure"`
	// Credentials is what Open returned; nil means plain connections.
	Credentials *Credentials `yaml:"-"`
}

// TLS says how a program uses TLS, and names its PEM files.
type TLS struct {
	Mode string `yaml:"mode"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// CA has the certificates of the cluster's CAs: two while one is replacing the other.
	CA string `yaml:"ca"`
}

// DefaultSettings returns the defaults: no TLS.
func DefaultSettings() Settings { return Settings{TLS: TLS{Mode: Off}} }

// Check checks the settings.
func (s *Settings) Check(k *config.Check) {
	k.OneOf("tls.mode", s.TLS.Mode, Off, Both, Required)
	if s.TLS.Mode == Off {
		return
	}
	for key, file := range map[string]string{"tls.cert": s.TLS.Cert, "tls.key": s.TLS.Key, "tls.ca": s.TLS.CA} {
		k.That(file != "", key, "is needed, since tls.mode is %s; `adshard cert issue` makes the files", s.TLS.Mode)
	}
}

// CheckListen checks that a port that other machines can reach has TLS, unless Insecure is set.
func (s *Settings) CheckListen(k *config.Check, key, address string) {
	k.That(s.TLS.Mode != Off || s.Insecure || Local(address), key,
		"%s can be reached from other machines, without TLS: set tls.mode (`adshard cert --help`), or write insecure: true to go without", address)
}

// QueryTLS says how a master's ports for queries use TLS. Their clients need no
// certificates.
type QueryTLS struct {
	Mode string `yaml:"mode"`
	// Cert and Key are PEM files, signed by the cluster's CA or by any other.
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Check checks the settings.
func (q *QueryTLS) Check(k *config.Check) {
	k.OneOf("query_tls.mode", q.Mode, Off, Both, Required)
	k.That(q.Mode == Off || q.Cert != "" && q.Key != "", "query_tls.cert", "and query_tls.key are needed, since query_tls.mode is %s", q.Mode)
}

// CheckListen does for a port for queries what Settings.CheckListen does for others.
func (q *QueryTLS) CheckListen(k *config.Check, key, address string, insecure bool) {
	k.That(q.Mode != Off || insecure || Local(address), key,
		"%s can be reached from other machines, without TLS: set query_tls.mode, or write query_insecure: true if that is meant", address)
}

// Local reports whether HOST:PORT is on loopback or empty.
func Local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return address == "" || err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
