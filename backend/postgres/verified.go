package postgres

import (
	"crypto/tls"
	"net"
	"net/url"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unverified returns a host in a URL, on another machine, to which connections may be made without a check of its
// certificate, or "" if there is none. It does not read the files of certificates. It also returns "" for a URL that
// is wrong or has a password, since Open and the stores of events refuse such a URL.
func Unverified(text string) string {
	primary, replica, err := withoutReplica(text)
	if err != nil {
		return unverified(text) // a database of events has no replica
	}
	if host := unverified(primary); host != "" || replica == "" {
		return host
	}
	return unverified(replica)
}

func unverified(text string) string {
	u, err := url.Parse(text)
	if err != nil || hasPassword(u) {
		return ""
	}
	q := u.Query()
	if q.Get("sslrootcert") == "system" { // verify-full for libpq
		q.Set("sslmode", "verify-full")
	}
	if q.Get("sslmode") == "require" && q.Get("sslrootcert") != "" { // verify-ca for libpq
		q.Set("sslmode", "verify-ca")
	}
	// The files need not exist yet, nor be readable for the user who checks a configuration.
	for _, file := range []string{"sslrootcert", "sslcert", "sslkey"} {
		q.Set(file, "")
	}
	u.RawQuery = q.Encode()
	c, err := pgconn.ParseConfig(u.String())
	if err != nil {
		return ""
	}
	for _, f := range append(c.Fallbacks, &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}) {
		if !onThisMachine(f.Host, f.Port) && !verifies(f.TLSConfig) {
			return f.Host
		}
	}
	return ""
}

// verifies reports whether TLS with the URL's settings checks the server's certificate. verify-ca has a check of its
// own.
func verifies(c *tls.Config) bool {
	return c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
}

func onThisMachine(host string, port uint16) bool {
	network, _ := pgconn.NetworkAddress(host, port)
	return network == "unix" || host == "localhost" || net.ParseIP(host).IsLoopback()
}
