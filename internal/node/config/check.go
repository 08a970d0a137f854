package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adshard/fault"
)

// Check collects the faults of a configuration, so that all are reported at once.
type Check struct{ faults []error }

// That records a fault of key unless ok is true.
func (c *Check) That(ok bool, key, format string, args ...any) {
	if !ok {
		c.faults = append(c.faults, fault.Field("config", key, "%s: %s", key, fmt.Sprintf(format, args...)))
	}
}

// maxName bounds a name in bytes, far below what peers accept (package wire).
const maxName = 100

// Name checks the name of a process, which appears in messages, logs and metrics.
func (c *Check) Name(key, name string) {
	c.That(name != "", key, "must not be empty")
	c.That(len(name) <= maxName, key, "has %d bytes; at most %d are allowed", len(name), maxName)
	c.That(utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl), key, "%q has characters that cannot be printed", name)
}

// maxAddress bounds a HOST:PORT in bytes.
const maxAddress = 300

// Address checks a HOST:PORT to listen on or to reach. An empty one is a fault only if it is
// needed.
func (c *Check) Address(key, address string, needed bool) {
	if address == "" {
		c.That(!needed, key, "must not be empty; give HOST:PORT, e.g. 127.0.0.1:7000")
		return
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	c.That(err == nil && len(address) <= maxAddress, key, "%q is not HOST:PORT", address)
}

// maxAddresses bounds a list of addresses.
const maxAddresses = 16

// Addresses checks a comma-separated list of HOST:PORT, which must all differ.
func (c *Check) Addresses(key, list string, needed bool) {
	if list == "" {
		c.Address(key, list, needed)
		return
	}
	seen := make(map[string]bool)
	for _, address := range strings.Split(list, ",") {
		address = strings.TrimSpace(address)
		c.Address(key, address, true)
		c.That(!seen[address], key, "has %s twice", address)
		seen[address] = true
	}
	c.That(len(seen) <= maxAddresses, key, "has %d addresses; at most %d are allowed", len(seen), maxAddresses)
}

// Apart checks that two addresses to listen on differ. Port 0 never clashes, since it stands for
// another port each time.
func (c *Check) Apart(key, address, other, otherAddress string) {
	host, port, err := net.SplitHostPort(address)
	otherHost, otherPort, otherErr := net.SplitHostPort(otherAddress)
	if err != nil || otherErr != nil || port == "0" || port != otherPort {
		return
	}
	same := loopback(host) == loopback(otherHost) || Unspecified(address) || Unspecified(otherAddress)
	c.That(!same, key, "%s has the port of %s (%s), at an address that is the same or all of them; choose another for one of them", address, other, otherAddress)
}

// loopback returns the host, or 127.0.0.1 for "localhost".
func loopback(host string) string {
	if host == "localhost" {
		return "127.0.0.1"
	}
	return host
}

// Hosts checks names or addresses of hosts, without ports.
func (c *Check) Hosts(key string, list []string) {
	for _, h := range list {
		_, err := netip.ParseAddr(h)
		c.That(err == nil || h != "" && len(h) <= 253 && !strings.ContainsAny(h, "/:@[]* \t\n"), key,
			"%q is not the name or address of a host; give it without scheme or port", h)
	}
}

// Duration checks that d is within bounds, both inclusive.
func (c *Check) Duration(key string, d, least, most time.Duration) {
	c.That(d >= least && d <= most, key, "%s; it must be %s to %s", d, least, most)
}

// Number checks that n is within bounds, both inclusive.
func (c *Check) Number(key string, n, least, most int) {
	c.That(n >= least && n <= most, key, "%d; it must be %d to %d", n, least, most)
}

// OneOf checks that a word is one of those allowed.
func (c *Check) OneOf(key, word string, allowed ...string) {
	for _, a := range allowed {
		if word == a {
			return
		}
	}
	c.That(false, key, "%q; it must be one of %v", word, allowed)
}

// Err returns all faults, each on a line of its own, or nil.
func (c *Check) Err() error { return errors.Join(c.faults...) }
