package database

import (
	"strings"
	"testing"

	"adshard/internal/node/config"
)

// TestServersAreVerified: a URL of a server must require verification of the server, unless a
// setting allows to omit it.
func TestServersAreVerified(t *testing.T) {
	for _, c := range []struct {
		url      string
		insecure bool
		ok       bool
	}{
		{"sqlite:ads.db", false, true},
		{"", false, true},
		{"postgres:///ads?host=/run/postgresql", false, true},
		{"postgres://db1,db2/ads", false, false},
		{"postgres://db1,db2/ads", true, true},
		{"postgres://db1,db2/ads?sslmode=verify-full&sslrootcert=not-there-yet", false, true},
	} {
		var k config.Check
		CheckVerified(&k, "events", c.url, c.insecure)
		err := k.Err()
		if (err == nil) != c.ok || err != nil && (!strings.Contains(err.Error(), "sslmode=verify-full") || !strings.Contains(err.Error(), "events")) {
			t.Errorf("%s, %v: %v", c.url, c.insecure, err)
		}
	}
}
