package up

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"adshard/internal/node/balancer"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
)

// answer returns the status and the body of a request with a Host.
func answer(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestExplanationsAreWhereTheyShouldBe: they show every bid.
func TestExplanationsAreWhereTheyShouldBe(t *testing.T) {
	for explain, public := range map[string]int{master.ExplainAuto: 200, master.ExplainPublic: 200, master.ExplainAdmin: 403} {
		t.Run(explain, func(t *testing.T) {
			cfg := upConfig(t, adsDB(t, 4))
			cfg.Explain, cfg.AdminHosts = explain, []string{"ads.example"}
			c := startUp(t, cfg)
			const path = "/v1/explain?q=usb+cable&timeout_ms=5000"
			status, body := answer(t, "GET", c.url+path, "")
			if status != public || (status == 200) != strings.Contains(body, "bid_micros") || status == 403 && !strings.Contains(body, "admin port") {
				t.Errorf("beside the queries: %d %s", status, body)
			}
			if status, body := answer(t, "GET", c.admin+path, ""); status != 200 || !strings.Contains(body, "bid_micros") {
				t.Errorf("on the admin port: %d %s", status, body)
			}
			if status, body := answer(t, "GET", c.admin+path, "evil.example"); status != 421 || strings.Contains(body, "bid_micros") {
				t.Errorf("under another name: %d %s", status, body)
			}
			// The names of the admin port are those of the configuration.
			for host, want := range map[string]int{"ads.example": 200, "evil.example": 421, "": 200} {
				if status, body := answer(t, "POST", c.admin+"/v1/balance/pause", host); status != want {
					t.Errorf("pause as %q: %d %s", host, status, body)
				}
			}
		})
	}
}

// TestAdminHostsAndExplainAreChecked: in the configurations of all programs.
func TestAdminHostsAndExplainAreChecked(t *testing.T) {
	wrong := []string{"http://ads.example", "ads.example:80", "", "a b"}
	u, m, s := DefaultConfig(), master.DefaultConfig(), slave.DefaultConfig()
	b, d := balancer.DefaultConfig(), distributor.DefaultConfig()
	u.DB, b.DB, d.DB = "sqlite:x", "sqlite:x", "sqlite:x"
	for name, c := range map[string]struct {
		hosts    *[]string
		validate func() error
	}{
		"up": {&u.AdminHosts, u.Validate}, "master": {&m.AdminHosts, m.Validate}, "slave": {&s.AdminHosts, s.Validate},
		"balancer": {&b.AdminHosts, b.Validate}, "distributor": {&d.AdminHosts, d.Validate},
	} {
		*c.hosts = []string{"ads.example", "10.0.0.5", "2001:db8::1"}
		if err := c.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, h := range wrong {
			*c.hosts = []string{h}
			if err := c.validate(); err == nil || !strings.Contains(err.Error(), "admin_hosts") {
				t.Errorf("%s takes the host %q: %v", name, h, err)
			}
		}
		*c.hosts = nil
	}
	m.Explain, u.Explain = master.ExplainAdmin, "everywhere"
	m.Admin = ""
	for _, err := range []error{m.Validate(), u.Validate()} {
		if err == nil || !strings.Contains(err.Error(), "explain") {
			t.Errorf("taken: %v", err)
		}
	}
}
