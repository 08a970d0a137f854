package config

import (
	"net/url"
	"strings"
)

// Origins checks origins of web pages. They are compared byte by byte with what browsers send, so they must have the
// form that browsers use.
func (c *Check) Origins(key string, list []string) {
	for _, o := range list {
		c.That(isOrigin(o), key, "%q is not an origin as browsers send it: write https://HOST, in lower case and without a path, and :PORT only if it is not 443 (http: 80)", o)
	}
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, "*,") || text != strings.ToLower(text) {
		return false
	}
	usual, known := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	return known && u.Port() != usual && !strings.HasSuffix(u.Host, ":") && text == u.Scheme+"://"+u.Host
}
