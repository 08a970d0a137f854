package openloop

import (
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"
	"time"
)

// The limits of one run.
const (
	MaxRate        = 100_000.0
	MaxDuration    = 2 * time.Hour
	MaxRequests    = 5_000_000
	MaxConnections = 4096
)

// Config is the configuration of one run.
type Config struct {
	// Addr is the server's address: a URL http://HOST:PORT, or unix:PATH.
	Addr string
	// TLS is for a URL https://HOST:PORT; nil: the system's CAs.
	TLS *tls.Config
	// AllowRemote: the address may be that of another machine.
	AllowRemote bool
	// Targets are the requests, sent in turn.
	Targets []Target
	// Rate is the intended number of requests per second, with random gaps as if from
	// independent users. 0: one at a time, the next one after the answer.
	Rate float64
	// Closed, if not 0, is the number of requests that are kept in progress, instead of
	// a rate.
	Closed int
	// Schedule, if not nil, says when each target is asked, from the start of the
	// warm-up on, instead of in turn and with Rate's random gaps. With Rate 0 only its
	// order matters.
	Schedule iter.Seq2[time.Duration, int]
	// Reference, if not nil, holds the answers with which complete answers are compared.
	Reference Reference
	// Warmup comes before Duration and is not counted.
	Warmup, Duration time.Duration
	// Requests, if not 0, ends the run after this many requests.
	Requests int
	// Connections is the largest number of requests in progress. Further requests that
	// are due wait, and their latency includes the wait.
	Connections int
	// InTime: complete answers within this time after the request was due are counted as
	// in time; 0: all complete answers.
	InTime time.Duration
	// Timeout bounds the time of one answer.
	Timeout time.Duration
	// Processes are the ids of the server's processes, whose processor time is reported.
	Processes []int
	// Seed decides the gaps.
	Seed uint64
}

// Validate returns an error that lists all faults, or nil.
func (c *Config) Validate() error {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, _, err := c.dial(); err != nil {
		faults = append(faults, err)
	}
	if len(c.Targets) == 0 {
		fail("there is nothing to ask")
	}
	if c.Rate < 0 || c.Rate > MaxRate {
		fail("a rate of %g: 0 (one at a time) to %g requests a second", c.Rate, MaxRate)
	}
	if c.Duration <= 0 || c.Warmup < 0 || c.Warmup+c.Duration > MaxDuration {
		fail("%v after a warm-up of %v: more than 0, and no more than %v together", c.Duration, c.Warmup, MaxDuration)
	}
	if c.Closed < 0 || c.Closed > MaxConnections || c.Closed > 0 && c.Rate > 0 {
		fail("%d requests kept under way: 0 (not so) to %d, without a rate", c.Closed, MaxConnections)
	}
	if due := c.Rate * (c.Warmup + c.Duration).Seconds(); due > MaxRequests {
		fail("%.0f requests: at most %d", due, MaxRequests)
	}
	if c.Reference != nil && len(c.Reference) != len(c.Targets) {
		fail("%d answers are recorded for %d targets", len(c.Reference), len(c.Targets))
	}
	if c.Connections < 1 || c.Connections > MaxConnections {
		fail("%d connections: 1 to %d", c.Connections, MaxConnections)
	}
	if c.Timeout <= 0 {
		fail("a timeout of %v: it must be positive", c.Timeout)
	}
	return errors.Join(faults...)
}

// dial returns the network and address to dial.
func (c *Config) dial() (network, address string, err error) {
	if path, ok := strings.CutPrefix(c.Addr, "unix:"); ok {
		return "unix", path, nil
	}
	addr := c.Addr
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return "", "", fmt.Errorf("address %q: write http://HOST:PORT, https://HOST:PORT or unix:PATH", c.Addr)
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if ip := net.ParseIP(host); !c.AllowRemote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", "", fmt.Errorf("%s is not this machine; load on others must be allowed by --allow-remote", host)
	}
	return "tcp", net.JoinHostPort(host, port), nil
}

// secure returns the TLS configuration for a host, or nil if the address does not use
// TLS.
func (c *Config) secure(host string) *tls.Config {
	if scheme, _, _ := strings.Cut(c.Addr, "://"); !strings.EqualFold(scheme, "https") { // like url.Parse
		return nil
	}
	own := new(tls.Config)
	if c.TLS != nil {
		own = c.TLS.Clone()
	}
	own.ServerName, _, _ = net.SplitHostPort(host)
	return own
}

// host returns the value of the header Host.
func (c *Config) host() string {
	network, address, _ := c.dial()
	if network == "unix" {
		return "localhost"
	}
	return address
}

// turns yields the targets in turn, without end.
func (c *Config) turns(yield func(time.Duration, int) bool) {
	for i := 0; yield(0, i%len(c.Targets)); i++ {
	}
}
