package up

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/database"
	"adshard/places"
)

// TestPlaces: a running cluster has places soon after their import.
func TestPlaces(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 2))
	cfg.Slaves = 1
	c := startUp(t, cfg)
	has := func(want string) {
		t.Helper()
		var last string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if last = masterPlaces(t, c.admin); last == want {
				return
			}
		}
		t.Fatalf("the master has %s places, not %s", last, want)
	}
	has("249")
	db, err := database.Open(t.Context(), cfg.DB, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table, _ := places.Countries().With([]places.Row{{ID: 9000001, Name: "Prague", Parent: 2203}})
	if _, err := db.SaveDocument(t.Context(), backend.PlacesDocument, 0, backend.PackDocument(table.Text())); err != nil {
		t.Fatal(err)
	}
	has("250")
}

// masterPlaces reads how many places the master says that it has.
func masterPlaces(t *testing.T, admin string) string {
	t.Helper()
	text := get(t, admin+"/metrics", http.StatusOK)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "adshard_places{") {
			_, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
			return value
		}
	}
	return ""
}
