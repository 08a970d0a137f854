package up

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/internal/node/database"
	"adshard/places"
)

// TestDocuments: a running cluster has places and block lists soon after they were saved.
func TestDocuments(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves = 1
	c := startUp(t, cfg)
	has := func(metric, want string) {
		t.Helper()
		var last string
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if last = metricOf(t, c.admin, metric); last == want {
				return
			}
		}
		t.Fatalf("%s is %q, not %s", metric, last, want)
	}
	has("adshard_places", "249")
	db, err := database.Open(t.Context(), cfg.DB, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table, _ := places.Countries().With([]places.Row{{ID: 9000001, Name: "Prague", Parent: 2203}})
	if _, err := db.SaveDocument(t.Context(), backend.PlacesDocument, 0, backend.PackDocument(table.Text())); err != nil {
		t.Fatal(err)
	}
	has("adshard_places", "250")
	version, err := blocklist.Save(t.Context(), db, "a", 0, &blocklist.List{Uncategorised: true})
	if err != nil {
		t.Fatal(err)
	}
	has("adshard_block_lists", "1 1") // of the master and of the slave
	if err := blocklist.Remove(t.Context(), db, "a", version); err != nil {
		t.Fatal(err)
	}
	has("adshard_block_lists", "0 0")
}

// metricOf reads the values of a metric, of all nodes.
func metricOf(t *testing.T, admin, metric string) string {
	t.Helper()
	var values []string
	for line := range strings.Lines(get(t, admin+"/metrics", http.StatusOK)) {
		if strings.HasPrefix(line, metric+"{") {
			_, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
			values = append(values, value)
		}
	}
	return strings.Join(values, " ")
}
