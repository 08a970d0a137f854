package balancer

import (
	"os"
	"strings"
	"testing"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/control/inetcd"
)

// TestControlBeyondLoopbackNeedsTLS: whoever can read or change the traffic to etcd can lead the cluster, so
// that traffic must not be sent unencrypted by oversight.
func TestControlBeyondLoopbackNeedsTLS(t *testing.T) {
	required := certs.TLS{Mode: certs.Required, Cert: "b.crt", Key: "b.key", CA: "ca.crt"}
	for name, c := range map[string]struct {
		control  string
		files    inetcd.TLS
		tls      certs.TLS
		insecure bool
		ok       bool
	}{
		"on loopback":           {control: "etcd://127.0.0.1:2379,localhost:2380", ok: true},
		"elsewhere":             {control: "etcd://10.0.0.5:2379", tls: required},
		"one of three":          {control: "etcd://127.0.0.1:2379,10.0.0.5:2379", tls: required},
		"elsewhere, all plain":  {control: "etcd://10.0.0.5:2379"},
		"elsewhere with TLS":    {control: "etcd://10.0.0.5:2379", files: inetcd.TLS{CA: "etcd.crt"}, tls: required, ok: true},
		"elsewhere as is meant": {control: "etcd://10.0.0.5:2379", tls: required, insecure: true, ok: true},
	} {
		cfg := DefaultConfig()
		cfg.DB, cfg.Control, cfg.ControlTLS, cfg.Insecure = "sqlite:ads.db", c.control, c.files, c.insecure
		if c.tls.Mode != "" {
			cfg.TLS = c.tls
		}
		err := cfg.Validate()
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "control_tls") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAKeyForEtcdThatOthersCanReadIsRefused: the rule is the same as for the cluster's own certificates.
func TestAKeyForEtcdThatOthersCanReadIsRefused(t *testing.T) {
	own := certtest.New(t).Settings(certs.Required, access.Balancer, "b").TLS
	if err := os.Chmod(own.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.Control, cfg.ControlTLS = "etcd://127.0.0.1:1", inetcd.TLS{CA: own.CA, Cert: own.Cert, Key: own.Key}
	_, closeStore, err := cfg.openControl(nil, balance.ByHash)
	if err == nil {
		_ = closeStore()
	}
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
}

// TestCurrencyIsACode: a currency is given by three letters.
func TestCurrencyIsACode(t *testing.T) {
	for code, ok := range map[string]bool{"": true, "CZK": true, "czk": false, "Kč": false, "EURO": false, "<b>": false} {
		c := DefaultConfig()
		c.DB, c.Currency = "sqlite:x", code
		if err := c.Validate(); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "ISO 4217") {
			t.Errorf("%q: %v", code, err)
		}
	}
}
