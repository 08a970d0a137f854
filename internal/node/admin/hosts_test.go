package admin_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
	"adshard/internal/node/metrics"
)

func guarded(hosts ...string) http.Handler {
	return admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil },
		Control: admintest.NewControl(), Hosts: hosts, Log: slog.New(slog.DiscardHandler)})
}

// TestTheAdminPortAnswersToItsNamesOnly: through a name that an attacker made resolve to the port
// (DNS rebinding), a page could pause balancing and drain slaves.
func TestTheAdminPortAnswersToItsNamesOnly(t *testing.T) {
	h := guarded("ads.example", "10.0.0.5:8081", "[2001:db8::7]:8081", "2001:db8::8")
	ask := func(method, path, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Host = host
		local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8081}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for host, status := range map[string]int{
		"localhost": 200, "LocalHost:8081": 200, "localhost.:1": 200, "127.0.0.1:8081": 200, "127.1.2.3": 200, "[::1]:8081": 200, "[::1]": 200,
		"192.0.2.7:8081": 200, "[::ffff:192.0.2.7]:1": 200, // the address to which the connection came
		"ads.example": 200, "ADS.example:8081": 200, "10.0.0.5": 200, "[2001:db8::7]": 200, "[2001:db8::8]:9": 200,
		"": 421, "evil.example": 421, "evil.example:8081": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"ads.example.evil.example": 421, "192.0.2.8": 421, "10.0.0.6:8081": 421, "127.0.0.1@evil.example": 421, "2130706433": 421,
	} {
		for _, call := range [][2]string{{"POST", "/v1/balance/pause"}, {"POST", "/v1/slaves/slave-0/drain"}, {"GET", "/v1/slaves"}, {"GET", "/openapi.yaml"}} {
			if w := ask(call[0], call[1], host); w.Code != status {
				t.Errorf("%s %s of %q: %d %s, want %d", call[0], call[1], host, w.Code, w.Body, status)
			}
		}
	}
	d := apitest.Read(t, httpapi.Spec)
	for path, method := range map[string]string{"/v1/balance/pause": "POST", "/v1/slaves": "GET"} {
		w := ask(method, path, "evil.example")
		d.Answers(t, path, method, w.Result(), w.Body.String())
	}
	if w := ask("POST", "/v1/balance/pause", "evil.example"); !strings.Contains(w.Body.String(), "admin_hosts") || !strings.Contains(w.Body.String(), "wrong_host") {
		t.Errorf("it does not say what to do: %s", w.Body)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if w := ask("GET", path, "evil.example"); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestTheAdminPortRefusesOtherSites: the headers by which a browser says where a page is from.
func TestTheAdminPortRefusesOtherSites(t *testing.T) {
	h, d := guarded("example.com"), apitest.Read(t, httpapi.Spec)
	for name, c := range map[string]struct {
		header []string
		status int
	}{
		"a program":           {nil, 200},
		"its own page":        {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://example.com"}, 200},
		"another site":        {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		"a sibling":           {[]string{"Sec-Fetch-Site", "same-site"}, 403},
		"an older browser":    {[]string{"Origin", "http://evil.example"}, 403},
		"an opaque origin":    {[]string{"Origin", "null"}, 403},
		"its page, by Origin": {[]string{"Origin", "http://example.com"}, 200},
	} {
		w := call(h, "POST", "/v1/balance/pause", "", c.header...)
		d.Answers(t, "/v1/balance/pause", "POST", w.Result(), w.Body.String())
		if w.Code != c.status || c.status == 403 && !strings.Contains(w.Body.String(), `"forbidden"`) {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.status)
		}
	}
}
