package console_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/httpapi"
)

// TestCookiesAreSecureWhereverTLSIs: if the port or a proxy in front of it uses TLS, the cookie is marked Secure, so that
// browsers never send it without TLS.
func TestCookiesAreSecureWhereverTLSIs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	own := certtest.New(t).Open(certs.Both, access.Balancer, "b")
	go func() { ended <- httpapi.Serve(ctx, own.Admin(l), newPort(t, true)) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	for _, c := range []struct {
		scheme string
		header []string
		secure bool
	}{
		{"https", []string{"Origin", "https://" + l.Addr().String()}, true},
		{"https", nil, true}, // as browsers do that send no Origin with a form of the same site
		{"https", []string{"Origin", "null"}, true},
		{"http", []string{"Origin", "https://" + l.Addr().String()}, true}, // a proxy terminates TLS
		{"http", []string{"Referer", "https://ads.example/console/login"}, true},
		{"http", []string{"X-Forwarded-Proto", "https"}, true},
		{"http", []string{"Origin", "http://" + l.Addr().String()}, false},
		{"http", nil, false},
	} {
		for _, path := range []string{"login", "logout"} {
			form := url.Values{"token": {operatorToken}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.scheme+"://"+l.Addr().String()+"/console/"+path, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			res, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if list := res.Cookies(); len(list) != 1 || list[0].Secure != c.secure {
				t.Errorf("%s over %s with %q: %d, cookies %v, want Secure %v", path, c.scheme, c.header, res.StatusCode, list, c.secure)
			}
		}
	}
}
