package config

import (
	"net"
)

// Unspecified tells whether an address stands for all of a host's own.
func Unspecified(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "" || net.ParseIP(host).IsUnspecified())
}
