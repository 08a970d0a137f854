package up

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/internal/oracle"
)

// TestScorer: with a model's file the answers of a cluster are scored by it and name it, over both ways to ask slaves, and explanations
// say what made the factor.
func TestScorer(t *testing.T) {
	model := `{"format":1,"weights":{"advertiser":{"2":-512},"match":{"broad":1,"phrase":1,"exact":1}}}`
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	id := oracle.ReadModel([]byte(model)).ID.String()
	for _, transport := range []string{TransportDirect, TransportStream} {
		t.Run(transport, func(t *testing.T) {
			cfg := upConfig(t, adsDB(t, 2))
			cfg.Slaves, cfg.Transport, cfg.Scorer = 2, transport, path
			c := startUp(t, cfg)
			if got := c.advertisers(t, "/v1/search?q=usb+cable"); got != "advertiser 0, advertiser 1" { // without a scorer it is the reverse
				t.Error(got)
			}
			for path, want := range map[string][]string{
				"/v1/search?q=usb+cable": {`"scorer":"` + id + `"`, `"complete":true`},
				"/v1/explain?q=usb+cable": {
					`"scorer":"` + id + `"`, `"factor_permille":239`, `{"feature":"advertiser","value":"2","weight":-512}`, `"complete":true`,
				},
			} {
				body := strings.Join(strings.Fields(c.get(t, path)), "")
				for _, part := range want {
					if !strings.Contains(body, part) {
						t.Errorf("%s: no %s in %s", path, part, body)
					}
				}
			}
		})
	}
}

// get returns the body of an answer.
func (c *cluster) get(t *testing.T, path string) string {
	t.Helper()
	res, err := http.Get(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
