package up

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestConsoleOfACluster opens each page of a real cluster, and pauses it by a form.
func TestConsoleOfACluster(t *testing.T) {
	c := startUp(t, upConfig(t, adsDB(t, 20)))
	open := func(method, path string, form url.Values) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, c.admin+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", c.admin)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, body, err)
		}
		return string(body)
	}
	says := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%q is not in\n%s", text, page)
			}
		}
	}
	for end := time.Now().Add(patience); !strings.Contains(open("GET", "/console/overview", nil), "Answers are complete") && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	says(open("GET", "/console/", nil), "Answers are complete", "slave-0", "slave-1", "slave-2", "× mean", "master", "3<small>0 away")
	// Asked during a whole poll of a master, which reports twice meanwhile.
	for end := time.Now().Add(patience); !strings.Contains(open("GET", "/console/overview", nil), "Queries a second") && time.Now().Before(end); {
		for range 20 {
			c.search(t, "usb cable")
		}
	}
	says(open("GET", "/console/overview", nil), "<dd>0.0 %<small>of queries", "<dd>0.0 %<small>because of overload", "<small>deadline 5,000 ms", `<td data-l="Queries a second" class="n">`)
	says(open("GET", "/console/balancing", nil), "weighted-move-fast", "Pause balancing")
	says(open("POST", "/console/do/pause", url.Values{}), "Balancing is paused.", "Resume balancing")
	says(open("GET", "/console/overview", nil), "balancing is paused")
	says(open("GET", "/console/slices", nil), `href="/console/slices/1"`, "slices by key")
	says(open("GET", "/console/slices/1", nil), "Why it is on slave-", "Where else it could go")
	says(open("GET", "/console/data", nil), `href="/console/data/advertisers/1"`)
	says(open("POST", "/console/data/groups/1", url.Values{"amount": {"7.5"}}), "Saved;", "7.50<small>")
	query := open("GET", "/console/query?"+url.Values{"q": {"usb cable"}, "keyword": {"20"}}.Encode(), nil)
	says(query, "20 matched", "3 of 3 shards answered", "Why not 20", "won 1", "won 4", "match the words", "hold the auction", `<th scope="row">slave-2</th>`)
	says(open("GET", "/console/query?q=nothing+at+all&keyword=20", nil), "no word of the query agrees with", "No keyword matches")
}
