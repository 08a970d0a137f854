package tracing

import (
	"net/url"

	"adshard/internal/node/config"
)

// Config says which searches are traced, and where their spans are sent.
type Config struct {
	// Endpoint is the URL to which spans are sent, by OTLP over HTTP: http://HOST:4318/v1/traces.
	// If it is empty, nothing is traced.
	Endpoint string `yaml:"endpoint"`
	// Share is the share, 0 to 1, of the searches without a trace context that are traced. A trace
	// context says whether its own search is traced. A slave traces the searches that its master
	// traces.
	Share float64 `yaml:"share"`
}

// DefaultConfig returns the defaults: nothing is traced.
func DefaultConfig() Config { return Config{Share: 0.01} }

// Check checks the configuration; `key` is its key.
func (c *Config) Check(k *config.Check, key string) {
	k.That(c.Share >= 0 && c.Share <= 1, key+".share", "%v is not a share from 0 to 1", c.Share)
	if c.Endpoint == "" {
		return
	}
	u, err := url.Parse(c.Endpoint)
	k.That(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", key+".endpoint",
		"%q is not a URL such as http://127.0.0.1:4318/v1/traces", c.Endpoint)
}
