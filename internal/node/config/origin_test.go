package config_test

import (
	"strings"
	"testing"

	"adshard/internal/node/config"
)

// TestOrigins: only the exact form of an origin that a browser sends is accepted. Any other spelling would never
// match.
func TestOrigins(t *testing.T) {
	for origin, good := range map[string]bool{
		"https://www.example.com": true, "http://localhost:8080": true, "https://[2001:db8::1]": true, "https://xn--bcher-kva.example": true,
		"": false, "*": false, "null": false, "www.example.com": false, "https://": false, "https://*.example.com": false, "https://a.example, https://b.example": false,
		"https://www.example.com/": false, "https://www.example.com/shop": false, "https://www.example.com?x": false, "https://WWW.example.com": false,
		"https://www.example.com:443": false, "http://www.example.com:80": false, "https://www.example.com:": false, "ftp://www.example.com": false,
		"https://user@www.example.com": false,
	} {
		var k config.Check
		k.Origins("event_origins", []string{origin})
		if err := k.Err(); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "event_origins") {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
