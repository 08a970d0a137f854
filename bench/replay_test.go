package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"adshard/bench/workload"
	"adshard/internal/node/up"
)

// arrivals are queries and when they came.
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

// TestReplay: what a cluster records is replayed: the same queries in the same order, at
// the same distances from each other.
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
	if _, err := do(t, LoadCommand(), "--addr", server.URL, "--queries", file, "--rate", "0", "--warmup", "0s", "--duration", "2s"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.queries[:min(len(asked), len(got.queries))], asked) {
		t.Fatalf("%q, asked were %q", got.queries, asked)
	}
	const tolerance = 150 * time.Millisecond
	for i := 1; i < len(asked); i++ {
		if apart := got.times[i].Sub(got.times[i-1]); apart < pauses[i]-tolerance || apart > pauses[i]+tolerance {
			t.Errorf("query %d came after %v, recorded after %v", i, apart, pauses[i])
		}
	}
}
