package collector_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/internal/node/database"
	"adshard/internal/node/porttest"
)

// awayTime is how long the server is unavailable. In the long form (make budgets) it is a minute,
// which is longer than time zones and keys are cached.
func awayTime() time.Duration {
	if os.Getenv("BUDGETS_LONG") != "" {
		return time.Minute + 5*time.Second
	}
	return time.Second
}

// TestServerAway: while the server of both databases is unavailable, batches are refused with a
// message and none is partly counted. When they are sent again to the same process after the server
// is back, each event counts once.
func TestServerAway(t *testing.T) {
	if testing.Short() {
		t.Skip("short: starts a server and a process")
	}
	const size, campaigns = 20, 2
	server, db := onPostgreSQL(t, campaigns)
	address := porttest.Address(t)
	p := clustertest.NewProcess(t, "collector", "collector-0", "collector listening", map[string]any{
		"name": "collector-0", "db": server.URL("postgres"), "http": address, "admin": ""})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	bodies := batchesOf(t, db, 1, 4, size, campaigns)[0]
	urls := [2]string{"http://" + address, "http://" + address}
	sendUntilCounted(t, urls, bodies[:1])
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for began := time.Now(); refused < 3 || time.Since(began) < awayTime(); refused++ {
		status, text := postTo(t, urls[0], bodies[1+refused%3])
		if status != http.StatusServiceUnavailable || !strings.Contains(text, "unavailable") {
			t.Fatalf("%d %s", status, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Logf("away for %v: %d batches were refused", awayTime(), refused)
	sendUntilCounted(t, urls, bodies) // the first batch is sent again
	s, err := database.OpenEvents(t.Context(), server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if sum := total(t, s); sum.Clicks != uint64(len(bodies)*size) || sum.Spend != uint64(len(bodies)*size)*1000 {
		t.Errorf("%+v, %d clicks were acknowledged", sum, len(bodies)*size)
	}
}

func postTo(t *testing.T, url, body string) (status int, text string) {
	t.Helper()
	res, err := http.Post(url+"/v1/events", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
