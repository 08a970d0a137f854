package config

import (
	"net"
)

// Unspecified reports whether HOST:PORT stands for all addresses of the host.
func Unspecified(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "" || net.ParseIP(host).IsUnspecified())
}
