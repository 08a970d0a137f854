package node

import (
	"net"
)

// everywhere tells whether an address stands for all of a host's own.
func everywhere(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "" || net.ParseIP(host).IsUnspecified())
}
