package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/porttest"
	"adshard/internal/node/up"
)

// causesOfBalancing are brought about in an `adshard up` of two slaves, in one process, that accepts calls with TLS
// and without.
var causesOfBalancing = []cause{
	{cluster: "balancing", what: "a certificate of another role", alerts: []string{"AdshardCallsRefused"}, bring: callAsSlave,
		end: (*alarmed).ended, ends: []string{"AdshardCallsRefused"}},
	{cluster: "balancing", what: "a certificate that was not replaced", alerts: []string{"AdshardCertificateExpires"},
		bring: func(r *alarmed) { r.certificate(access.Balancer, 4*24*time.Hour) },
		end:   func(r *alarmed) { r.certificate(access.Balancer, month) }, ends: []string{"AdshardCertificateExpires"}},
	{cluster: "balancing", what: "stores that others may read", alerts: []string{"AdshardFilesExposed"},
		bring: func(r *alarmed) { r.must(os.Chmod(r.dirs["stores"], 0o755)) },
		end:   func(r *alarmed) { r.must(os.Chmod(r.dirs["stores"], 0o700)) }, ends: []string{"AdshardFilesExposed"}},
	{cluster: "balancing", what: "balancing that is paused, and all that is asked for on one slave",
		alerts: []string{"AdshardBalancingPaused", "AdshardUnevenLoad"}, bring: heap,
		end: func(r *alarmed) { r.post("/v1/balance/resume", nil) }, ends: []string{"AdshardBalancingPaused"}},
}

// month is the lifetime of the certificates that the program makes.
const month = 30 * 24 * time.Hour

func startBalancing(t *testing.T) *alarmed {
	r := newAlarmed(t)
	r.dirs["certificates"] = t.TempDir()
	pair, err := certs.NewAuthority("test", 12*month)
	r.must(err)
	r.authority, err = certs.OpenAuthority(pair)
	r.must(err)
	r.must(os.WriteFile(r.file("ca.crt"), pair.Cert, 0o600))
	r.certificate(access.Balancer, month)
	r.targets["up"] = porttest.Address(t)
	r.watched(r.targets["up"])
	c := startCluster(t, r.closed(), 2, false, "default", func(cfg *up.Config) {
		cfg.Admin, cfg.Interval = r.targets["up"], time.Second
		r.dirs["stores"] = cfg.Data
		cfg.TLS = certs.TLS{Mode: certs.Both, CA: r.file("ca.crt"), Cert: r.file("balancer.crt"), Key: r.file("balancer.key")}
	})
	r.url = c.http
	r.asked(4, 10*time.Millisecond)
	return r
}

// file returns the path of a file of certificates.
func (r *alarmed) file(name string) string { return filepath.Join(r.dirs["certificates"], name) }

// certificate writes a new certificate for a role.
func (r *alarmed) certificate(role access.Role, life time.Duration) {
	r.Helper()
	pair, err := r.authority.Issue(role, "one", []string{"localhost", "127.0.0.1"}, life)
	r.must(err)
	r.must(os.WriteFile(r.file(string(role)+".key"), pair.Key, 0o600))
	r.must(os.WriteFile(r.file(string(role)+".crt"), pair.Cert, 0o600))
}

// callAsSlave calls the admin port again and again with a slave's certificate.
func callAsSlave(r *alarmed) {
	r.certificate(access.Slave, month)
	own, err := tls.LoadX509KeyPair(r.file("slave.crt"), r.file("slave.key"))
	r.must(err)
	roots := x509.NewCertPool()
	ca, err := os.ReadFile(r.file("ca.crt"))
	r.must(err)
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: roots}}, Timeout: time.Minute}
	r.Cleanup(client.CloseIdleConnections)
	r.undo = r.again(func() {
		resp, err := client.Get("https://" + r.targets["up"] + "/v1/slaves")
		if err != nil {
			return
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
			r.Errorf("a slave asks the admin port: %s", resp.Status)
		}
	})
}

// heap moves all slices of slave-1 to slave-0 while the strategy is paused.
func heap(r *alarmed) {
	r.post("/v1/balance/pause", nil)
	r.until("slave-1 has nothing", func() bool {
		r.moveOne("slave-1", "slave-0")
		status, err := r.Status()
		return err == nil && len(r.slicesOn("slave-1")) == 0 && len(status.InFlight) == 0
	})
}
