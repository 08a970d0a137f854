package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/bench/workload"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/up"
)

// TestReplayOfPages: valid and invalid searches with placements are replayed from the log and
// get the same answers as before.
func TestReplayOfPages(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a whole cluster")
	}
	dir, db := world(t)
	file := filepath.Join(dir, "recorded")
	_, addr, _ := runCluster(t, dir, db, func(c *up.Config) { c.QueryLog.File = file })
	queries, err := readQueries(filepath.Join(dir, "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	ads := 0
	for i, rest := range []string{
		`"placements":[{"id":"top","slots":2},{"id":"side","slots":3,"reserve_micros":200000}]`,
		`"device":"mobile","variants":"folded","slots":3,"per_advertiser":3,"placements":[{"id":"top"},{"id":"top"},{"id":"x","colour":1},{"id":"side","slots":4}]`,
		`"time":"2026-03-04T12:00:00Z","block_advertisers":[1],"placements":[{"id":"top","slots":3,"block_advertisers":[2,3]}]`,
		`"slots":2,"device":"tablet"`,
	} {
		for _, q := range queries[10*i : 10*i+10] {
			answer := answerTo(t, addr, fmt.Sprintf(`{"q":%q,%s}`, q, rest))
			asked, ads = append(asked, answer), ads+strings.Count(answer, "price")
		}
	}
	for text := []byte(nil); bytes.Count(text, []byte("\n")) < len(asked); time.Sleep(20 * time.Millisecond) {
		if text, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	var got []string // only one request is in progress at a time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost {
			body, _ = json.Marshal(api.BodyOf(r.URL.Query()))
		}
		got = append(got, answerTo(t, addr, string(body)))
		fmt.Fprint(w, `{"ads":[],"coverage":{"complete":true}}`)
	}))
	defer server.Close()
	args := []string{"--addr", server.URL, "--queries", file, "--rate", "0", "--warmup", "0s", "--duration", "1m", "--connections", "1"}
	if _, err := do(t, LoadCommand(), args...); err != nil {
		t.Fatal(err)
	}
	if ads < 20 || !slices.Equal(got, asked) {
		t.Errorf("%d ads; replayed\n%s\nasked\n%s", ads, strings.Join(got, "\n"), strings.Join(asked, "\n"))
	}
}

// answerTo returns the answer to a body, without the ads that were drawn from their groups.
func answerTo(t *testing.T, addr, body string) string {
	resp, err := http.Post(addr+"/v1/search", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	var a api.SearchAnswer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || !a.Coverage.Complete {
		t.Errorf("%s: %s, %v, %+v", body, resp.Status, err, a)
	}
	said := fmt.Sprint(a.Query, a.Matched, a.Candidates)
	for _, p := range append(a.Placements, api.PlacementAnswer{Ads: a.Ads}) {
		if said += fmt.Sprintf("; %s %d %d", p.ID, p.Matched, p.Candidates); p.Error != nil {
			said += p.Error.Message
		}
		for _, ad := range p.Ads {
			said += fmt.Sprintf(", %d price %d", ad.KeywordID, ad.PriceMicros)
		}
	}
	return said
}

// arrivals records queries and when they arrived.
type arrivals struct {
	mu      sync.Mutex
	queries []string    // under mu
	times   []time.Time // under mu
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.queries, a.times = append(a.queries, r.URL.Query().Get("q")), append(a.times, time.Now())
	a.mu.Unlock()
	fmt.Fprint(w, `{"ads":[],"matched":0,"coverage":{"complete":true,"prices_exact":true}}`)
}

// TestReplay: what a cluster records is replayed: the same queries in the same order, none
// before its time.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a whole cluster")
	}
	dir, db := world(t)
	file := filepath.Join(dir, "recorded")
	stop, addr, _ := runCluster(t, dir, db, func(c *up.Config) { c.QueryLog.File = file })
	asked := []string{"usb cable", "red\tlamp", "usb cable", "žlutý kůň", "mouse, 7"}
	pauses := []time.Duration{0, 300 * time.Millisecond, 50 * time.Millisecond, 400 * time.Millisecond, 100 * time.Millisecond}
	for i, q := range asked {
		time.Sleep(pauses[i])
		resp, err := http.Get(addr + "/v1/search?" + url.Values{"q": {q}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	stop() // writes the rest
	asked[1] = "red lamp"
	w, err := workload.FromFile(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	if list := slices.Collect(w.InTurn()); !slices.Equal(list, asked) || w.Recorded() == 0 {
		t.Fatalf("%q are recorded, over %v", list, w.Recorded())
	}
	got := new(arrivals)
	server := httptest.NewServer(got)
	defer server.Close()
	began := time.Now()
	if _, err := do(t, LoadCommand(), "--addr", server.URL, "--queries", file, "--rate", "0", "--warmup", "0s", "--duration", "2s"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.queries[:min(len(asked), len(got.queries))], asked) {
		t.Fatalf("%q, asked were %q", got.queries, asked)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var first time.Time
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		at, err := time.Parse(time.RFC3339Nano, strings.Split(line, "\t")[1])
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = at
		}
		if after := got.times[i].Sub(began); after < at.Sub(first) { // a busy machine may only be late
			t.Errorf("query %d came after %v, recorded after %v", i, after, at.Sub(first))
		}
	}
}
