package up

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
)

// senders are those who may have a request sent, with the headers that tell; "Host" is the name of the port. With a name
// that was made to resolve to the port, browsers take a page for one of this site.
var senders = []struct {
	name    string
	header  []string
	foreign bool
}{
	{"a program", nil, false},
	{"a page of the port", []string{"Sec-Fetch-Site", "same-origin"}, false},
	{"the address bar", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, false},
	{"a name that leads here", []string{"Host", "evil.example"}, true},
	{"a page of such a name", []string{"Host", "evil.example", "Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example"}, true},
	{"another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, true},
	{"another site's image", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, true},
	{"another site's frame", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, true},
	{"a sibling", []string{"Sec-Fetch-Site", "same-site"}, true},
	{"an older browser", []string{"Origin", "http://evil.example"}, true},
	{"an opaque origin", []string{"Origin", "null"}, true},
	{"a link of another site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
}

// TestEveryCallOfEveryPort tests a cluster in which every port is open.
func TestEveryCallOfEveryPort(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves, cfg.Collector = 1, loopback
	c := startUp(t, cfg)
	t.Run("pages of other sites", c.testSites)
	t.Run("bodies", c.testBodies)
	t.Run("state keys", func(t *testing.T) { c.testStateKeys(t, cfg, stateKeyOf(t, cfg.Data)) })
}

// stateKeyOf returns the state key of the cluster whose stores are in a directory.
func stateKeyOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`(?m)^id: *"?(\w+)`).FindSubmatch(text)
	if id == nil {
		t.Fatalf("no id in %s", text)
	}
	return "up/" + string(id[1])
}

// testSites: a call is open to pages of other sites if access.NewTable says so, and not otherwise. A call without a row fails.
func (c *cluster) testSites(t *testing.T) {
	calls := map[string][]string{access.AdminPort: nil}
	for path, methods := range admin.Routes() {
		for _, method := range methods {
			calls[access.AdminPort] = append(calls[access.AdminPort], method+" "+path)
		}
	}
	d := apitest.Read(t, httpapi.Spec)
	calls[access.QueryPort], calls[access.EventPort] = d.Operations("public"), d.Operations("events")
	table := access.NewTable()
	for port, address := range map[string]string{access.AdminPort: c.admin, access.QueryPort: c.url, access.EventPort: c.collector(t)} {
		if len(calls[port]) == 0 {
			t.Errorf("no calls of the port %s", port)
		}
		for _, call := range calls[port] {
			rule, known := table[port+" "+call]
			if !known {
				t.Errorf("%s %s has no row in the table", port, call)
				continue
			}
			method, path, _ := strings.Cut(call, " ")
			page := strings.HasPrefix(call, "GET /console/")
			for _, s := range senders {
				if long := strings.HasSuffix(path, "/profile") || strings.HasSuffix(path, "/trace"); long && !s.foreign && s.header != nil {
					continue // an answer takes a second
				}
				open := rule.AnySite || !s.foreign || page && s.name == "a link of another site"
				if refused, answer := refusesSite(t, method, address+path, s.header); refused == open {
					t.Errorf("%s %s of %s: %s", port, call, s.name, answer)
				}
			}
		}
	}
	c.showsNoCampaigns(t)
}

// refusesSite sends a request, and reports whether it is refused for where it is from.
func refusesSite(t *testing.T, method, url string, header []string) (refused bool, answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	url = strings.NewReplacer("{id}", "1", "{name}", "none", "{slice}", "1", "{action}", "pause", "{kind}", "campaigns").Replace(url) + "?seconds=1"
	r, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(r) // follows nothing
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest && res.StatusCode != http.StatusForbidden {
		return false, res.Status // some answers never end
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	says := "page of another site"
	if res.StatusCode == http.StatusMisdirectedRequest {
		says = "admin_hosts"
	}
	return strings.Contains(string(body), says), res.Status + " " + string(body)
}

// showsNoCampaigns: what any site may ask of the admin port says nothing of single advertisers.
func (c *cluster) showsNoCampaigns(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/metrics", "/readyz", "/livez"} {
		if page := c.page(t, path); strings.Contains(page, "campaign=") || strings.Contains(page, "advertiser=") {
			t.Errorf("%s names campaigns or advertisers: %s", path, page)
		}
	}
}
