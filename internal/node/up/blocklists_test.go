package up

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBlocklistsOverTheAPI: what is changed over the admin port is in the answers soon after, without a restart.
func TestBlocklistsOverTheAPI(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves = 2
	c := startUp(t, cfg)
	change := func(method, path, body string) {
		t.Helper()
		if status, answer := send(t, method, c.admin+path, body); status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
	}
	// shown waits until the ads that block the list are of these advertisers; "none": the list is refused.
	shown := func(want string) {
		t.Helper()
		var last string
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if last = c.advertisers(t, "/v1/search?q=usb+cable&timeout_ms=5000&block=a"); last == want {
				return
			}
		}
		t.Fatalf("%q are shown, not %q", last, want)
	}
	shown("none")
	change("POST", "/v1/blocklists", `{"name":"a","categories":["alcohol"]}`)
	shown("advertiser 1, advertiser 0")
	change("PATCH", "/v1/blocklists/a", `{"add":{"advertisers":[2]}}`)
	shown("advertiser 0")
	change("PATCH", "/v1/blocklists/a", `{"block_uncategorised":true}`)
	shown("")
	change("PATCH", "/v1/blocklists/a", `{"remove":{"advertisers":[2]},"block_uncategorised":null,"add":{"advertisers":[1]}}`)
	shown("advertiser 1")
	change("DELETE", "/v1/blocklists/a", "")
	shown("none")
}

// advertisers returns whose ads an answer has, best first; "none": the request is refused for its block list.
func (c *cluster) advertisers(t *testing.T, path string) string {
	t.Helper()
	res, err := http.Get(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var a struct {
		Ads   []struct{ Advertiser string }
		Error struct{ Field string }
	}
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	switch {
	case res.StatusCode == http.StatusBadRequest && a.Error.Field == "block":
		return "none"
	case res.StatusCode != http.StatusOK:
		t.Fatalf("%s: %s", path, res.Status)
	}
	var names []string
	for _, ad := range a.Ads {
		names = append(names, ad.Advertiser)
	}
	return strings.Join(names, ", ")
}
