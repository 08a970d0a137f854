package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/internal/clustertest"
)

// prometheus is a running Prometheus.
type prometheus struct{ url string }

// startPrometheus runs a Prometheus until the test ends. Its configuration is that of deploy/alerts, but it scrapes
// the given target four times a second. If change is not nil, it changes the alerts.
func startPrometheus(t *testing.T, target string, change func(rules string) string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config := readFile(t, filepath.Join(alertsDir, "prometheus.yml"))
	for old, with := range map[string]string{
		"scrape_interval: 15s": "scrape_interval: 250ms", "evaluation_interval: 15s": "evaluation_interval: 250ms", "127.0.0.1:8081": target,
		"adshard.rules.yml": filepath.Join(dir, "rules.yml"),
	} {
		if !strings.Contains(config, old) {
			t.Fatalf("prometheus.yml has no %q", old)
		}
		config = strings.Replace(config, old, with, 1)
	}
	rules := readFile(t, filepath.Join(alertsDir, "adshard.rules.yml"))
	if change != nil {
		rules = change(rules)
	}
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	cmd := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=error")
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatalf("prometheus: %v (deploy/setup.sh test installs it)", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := &prometheus{"http://" + address}
	for end := time.Now().Add(clustertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(p.url + "/-/ready")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return p
			}
		}
		if time.Now().After(end) {
			t.Fatalf("Prometheus does not become ready: %v", err)
		}
	}
}

// freeAddress returns an address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// count returns the number of series that a query returns when sent as by Grafana, for all nodes.
func (p *prometheus) count(t *testing.T, query string) int {
	t.Helper()
	return len(p.ask(t, query))
}

// ask returns the result of a query.
func (p *prometheus) ask(t *testing.T, query string) []any {
	t.Helper()
	query = strings.NewReplacer("$__rate_interval", "5s", "$node", ".*").Replace(query)
	resp, err := http.Get(p.url + "/api/v1/query?" + url.Values{"query": {query}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []any }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v %s", query, err, answer.Error)
	}
	return answer.Data.Result
}
