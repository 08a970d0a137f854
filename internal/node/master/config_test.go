package master

import (
	"net"
	"testing"
)

// TestExplanationsFollowTheListener: with `auto`, explanations are public on loopback addresses
// only.
func TestExplanationsFollowTheListener(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "0.0.0.0": false, "::": false, "10.0.0.5": false, "192.0.2.1": false,
	} {
		at := &net.TCPAddr{IP: net.ParseIP(address), Port: 8080}
		for explain, want := range map[string]bool{ExplainAuto: want, ExplainPublic: true, ExplainAdmin: false} {
			c := Config{Explain: explain}
			if c.explains(at) != want {
				t.Errorf("%s on %s: %t", explain, address, !want)
			}
		}
	}
}
